import { startFreezingProxy, type EtcdCluster, type FreezingProxy, type PostgresServer } from '@strongroom/lab';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workersOf, writersOf } from '../child-processes.ts';
import { commandForManyStarts, freePort, startServer, type ServerProcess } from '../server-process.ts';
import { NodeClient } from './node-client.ts';

/** A server of the cluster, in a process of its own. */
export interface ClusterNode {
  readonly client: NodeClient;
  readonly pid: number;
  /** The ways to the store, where that is another server: one for each place that it may be at. */
  readonly links: readonly FreezingProxy[];
  /** The processes that this one has started. */
  workers(): Promise<readonly number[]>;
  /** The process that writes for them, where it runs. */
  writers(): Promise<readonly number[]>;
  /** SIGKILL, and another process in its place. */
  replace(): Promise<void>;
}

/** Several servers on one store, open, with a root token. */
export interface Cluster {
  readonly nodes: readonly ClusterNode[];
  readonly rootToken: string;
  close(): Promise<void>;
}

/** What a node's configuration says of its store. */
interface NodeStorage {
  readonly stanza: string;
  readonly links?: readonly FreezingProxy[];
}

/** Processes on one LMDB folder. */
export async function lmdbCluster(count: number): Promise<Cluster> {
  return cluster(count, async (folder) => ({ stanza: `storage "lmdb" { path = "${join(folder, 'data')}" }` }));
}

/** One server of several workers on an LMDB folder. */
export async function workersCluster(workers: number): Promise<Cluster> {
  return cluster(1, async (folder) => ({ stanza: `workers = ${workers}\nstorage "lmdb" { path = "${join(folder, 'data')}" }` }));
}

/** Nodes over a PostgreSQL, each with links of its own that can freeze, to all the places that it may be at. */
export async function postgresCluster(
  count: number,
  { superuser, password }: PostgresServer,
  places: readonly { readonly host: string; readonly port: number }[],
): Promise<Cluster> {
  return cluster(count, async () => {
    const links = await Promise.all(places.map((place) => startFreezingProxy(place)));
    const hosts = links.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return { stanza: `storage "postgresql" { connection_url = "postgresql://${superuser}:${password}@${hosts}/postgres" }`, links };
  });
}

/** Nodes over the members of etcd. */
export async function etcdCluster(count: number, { endpoints }: EtcdCluster): Promise<Cluster> {
  return cluster(count, async () => ({ stanza: `storage "etcd" { address = "${endpoints.join(',')}" }` }));
}

async function cluster(count: number, storageOf: (folder: string) => Promise<NodeStorage>): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-consistency-'));
  const seal = randomBytes(32).toString('base64');
  const nodes: StartedNode[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.close()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    for (let i = 0; i < count; i += 1) nodes.push(await StartedNode.start(folder, i, await storageOf(folder), seal));
    const made = await nodes[0]!.client.must({ method: 'PUT', path: 'sys/init', body: { recovery_shares: 1, recovery_threshold: 1 } });
    const rootToken = made['root_token'] as string;
    for (const node of nodes) await node.opened();
    return { nodes, rootToken, close };
  } catch (error) {
    await close();
    throw error;
  }
}

class StartedNode implements ClusterNode {
  readonly client: NodeClient;
  readonly links: readonly FreezingProxy[];
  readonly #address: string;
  readonly #config: string;
  #process: ServerProcess | undefined;

  private constructor(address: string, config: string, links: readonly FreezingProxy[]) {
    this.#address = address;
    this.#config = config;
    this.client = new NodeClient(address);
    this.links = links;
  }

  static async start(folder: string, number: number, { stanza, links = [] }: NodeStorage, seal: string): Promise<StartedNode> {
    const port = await freePort();
    const config = join(folder, `node-${number}.hcl`);
    await writeFile(
      config,
      `${stanza}\nlistener "tcp" {\n  address = "127.0.0.1:${port}"\n  tls_disable = true\n}\nlog_level = "error"\n` +
        `seal "static" {\n  current_key_id = "k1"\n  current_key = "${seal}"\n}\n`,
    );
    const node = new StartedNode(`http://127.0.0.1:${port}`, config, links);
    await node.#open();
    return node;
  }

  get pid(): number {
    return this.#process!.pid;
  }

  async workers(): Promise<readonly number[]> {
    return workersOf(this.pid);
  }

  async writers(): Promise<readonly number[]> {
    return writersOf(this.pid);
  }

  /** @throws Error where the node does not serve within 20 s */
  async opened(): Promise<void> {
    const deadline = Date.now() + 20_000;
    for (;;) {
      const status = await fetch(`${this.#address}/v1/sys/health`).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 200) return;
      if (Date.now() > deadline) throw new Error(`the node does not unseal: ${status} ${this.#process!.log()}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  async replace(): Promise<void> {
    await this.#process!.kill();
    await this.#open();
  }

  async close(): Promise<void> {
    await this.#process?.kill();
    await Promise.all(this.links.map((link) => link.close()));
  }

  async #open(): Promise<void> {
    this.#process = await startServer([`-config=${this.#config}`], this.#address, { command: await commandForManyStarts() });
  }
}
