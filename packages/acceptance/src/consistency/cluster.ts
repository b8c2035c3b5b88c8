import { startFreezingProxy, type FreezingProxy, type PostgresServer } from '@strongroom/lab';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startServer, type ServerProcess } from '../server-process.ts';
import { NodeClient } from './node-client.ts';

/** A server of the cluster, in a process of its own. */
export interface ClusterNode {
  readonly client: NodeClient;
  readonly pid: number;
  /** The way to the store, where that is another server. */
  readonly link?: FreezingProxy;
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
  readonly link?: FreezingProxy;
}

/** Processes on one LMDB folder. */
export async function lmdbCluster(count: number): Promise<Cluster> {
  return cluster(count, async (folder) => ({ stanza: `storage "lmdb" { path = "${join(folder, 'data')}" }` }));
}

/** Nodes over one PostgreSQL, each with a link of its own that can freeze. */
export async function postgresCluster(count: number, postgres: PostgresServer): Promise<Cluster> {
  return cluster(count, async () => {
    const link = await startFreezingProxy({ host: '127.0.0.1', port: postgres.port });
    const url = new URL(postgres.url);
    url.host = `127.0.0.1:${link.port}`;
    return { stanza: `storage "postgresql" { connection_url = "${url.href}" }`, link };
  });
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
  readonly link?: FreezingProxy;
  readonly #address: string;
  readonly #config: string;
  #process: ServerProcess | undefined;

  private constructor(address: string, config: string, link: FreezingProxy | undefined) {
    this.#address = address;
    this.#config = config;
    this.client = new NodeClient(address);
    if (link) this.link = link;
  }

  static async start(folder: string, number: number, { stanza, link }: NodeStorage, seal: string): Promise<StartedNode> {
    const port = await freePort();
    const config = join(folder, `node-${number}.hcl`);
    await writeFile(
      config,
      `${stanza}\nlistener "tcp" {\n  address = "127.0.0.1:${port}"\n  tls_disable = true\n}\nlog_level = "error"\n` +
        `seal "static" {\n  current_key_id = "k1"\n  current_key = "${seal}"\n}\n`,
    );
    const node = new StartedNode(`http://127.0.0.1:${port}`, config, link);
    await node.#open();
    return node;
  }

  get pid(): number {
    return this.#process!.pid;
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
    await this.link?.close();
  }

  async #open(): Promise<void> {
    this.#process = await startServer([`-config=${this.#config}`], this.#address);
  }
}
