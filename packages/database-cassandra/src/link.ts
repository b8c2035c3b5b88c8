import cassandra from 'cassandra-driver';
import { abortable, ConnectionLost, type PoolStatus, redact, SessionClosed } from '@strongroom/database-sdk';
import { LocalNodesPolicy } from './local-nodes-policy.ts';
import { errorText, isServerError, loginFailure } from './server-error.ts';
import type { CassandraSettings } from './settings.ts';

type Client = cassandra.Client;
export type Row = cassandra.types.Row;

interface Cluster {
  readonly client: Client;
  readonly connecting: Promise<void>;
  connected: boolean;
  underWay: number;
  /** Called when the last statement under way has ended. */
  onIdle?: () => void;
}

/** How long statements of others may take on connections that are given up. */
const GRACE_MS = 2_000;

const quiet = (): void => undefined;

/** The driver's connections to a cluster. Made before the first statement, and again after a node was lost, at once rather than by and by. */
export class ClusterLink {
  readonly #settings: CassandraSettings;
  readonly #alive = new Set<Cluster>();
  #current: Cluster | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: CassandraSettings) {
    this.#settings = settings;
  }

  /** Rejects with a node's answer, with the driver's error, with ConnectionLost, SessionClosed, or the reason of `signal`. */
  async execute(signal: AbortSignal, statement: string): Promise<Row[]> {
    this.#requireOpen();
    signal.throwIfAborted();
    const cluster = (this.#current ??= this.#connect());
    await abortable(signal, cluster.connecting);
    cluster.underWay++;
    const running = cluster.client.execute(statement).finally(() => {
      if (--cluster.underWay === 0) cluster.onIdle?.();
    });
    try {
      const { rows } = await abortable(signal, running, () => this.#giveUp(cluster));
      return rows ?? [];
    } catch (error) {
      if (!signal.aborted && !isServerError(error)) this.#giveUp(cluster);
      if (this.#closing && !isServerError(error)) throw new SessionClosed();
      throw error;
    }
  }

  /** Connects and logs in; the connections are kept if there are no others. Rejects with ConnectionLost or with the reason of `signal`. */
  async login(signal: AbortSignal): Promise<void> {
    this.#requireOpen();
    signal.throwIfAborted();
    if (!this.#current) return abortable(signal, (this.#current = this.#connect()).connecting);
    const apart = this.#connect();
    await abortable(signal, apart.connecting).finally(() => void this.#end(apart));
  }

  pool(): PoolStatus {
    const cluster = this.#current;
    const { client, connected, underWay } = cluster ?? { client: undefined, connected: false, underWay: 0 };
    const limit = Math.max(this.#settings.contactPoints.length, client?.hosts.length ?? 0);
    if (!client || !connected) return { open: 0, idle: 0, waiting: 0, limit };
    const state = client.getState();
    const open = Math.min(
      limit,
      state.getConnectedHosts().reduce((sum, host) => sum + state.getOpenConnections(host), 0),
    );
    return { open, idle: Math.max(0, open - underWay), waiting: 0, limit };
  }

  /** Waits for statements under way, but not for a cluster that does not answer. */
  close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#alive].map((cluster) => this.#end(cluster))).then(quiet);
    return this.#closing;
  }

  #requireOpen(): void {
    if (this.#closing) throw new SessionClosed();
  }

  #connect(): Cluster {
    const client = makeClient(this.#settings);
    const connecting = connect(client, this.#settings).then(
      () => {
        cluster.connected = true;
      },
      (error: unknown) => {
        this.#giveUp(cluster);
        this.#requireOpen();
        const { contactPoints, username, secrets } = this.#settings;
        throw new ConnectionLost(redact(`failed to connect to ${contactPoints.join(', ')} as ${username}: ${errorText(error)}`, secrets), {
          login: loginFailure(error),
        });
      },
    );
    // Nobody may be waiting any more when it fails.
    connecting.catch(quiet);
    const cluster: Cluster = { client, connecting, connected: false, underWay: 0 };
    this.#alive.add(cluster);
    return cluster;
  }

  /** Nobody else shall wait behind a statement that was abandoned, or for the driver to notice that a node is back. */
  #giveUp(cluster: Cluster): void {
    if (this.#current === cluster) this.#current = undefined;
    void this.#end(cluster);
  }

  async #end(cluster: Cluster): Promise<void> {
    if (!this.#alive.delete(cluster)) return;
    if (cluster.underWay > 0) {
      await new Promise<void>((resolve) => {
        const cut = setTimeout(resolve, GRACE_MS).unref();
        cluster.onIdle = () => {
          clearTimeout(cut);
          resolve();
        };
      });
    }
    await cluster.client.shutdown().catch(quiet);
  }
}

async function connect(client: Client, { localDatacenter }: CassandraSettings): Promise<void> {
  await client.connect();
  if (localDatacenter === undefined) return;
  const found = client.hosts.values().map(({ datacenter }) => datacenter);
  if (!found.includes(localDatacenter))
    throw new Error(`local_datacenter ${localDatacenter} is not one of the cluster's: ${[...new Set(found)].sort().join(', ')}`);
}

function makeClient(settings: CassandraSettings): Client {
  const { policies, auth } = cassandra;
  const { localDatacenter, maxProtocolVersion, consistency, tls, keepAliveMs } = settings;
  return new cassandra.Client({
    contactPoints: [...settings.contactPoints],
    protocolOptions: { port: settings.port, ...(maxProtocolVersion !== undefined && { maxVersion: maxProtocolVersion }) },
    authProvider: new auth.PlainTextAuthProvider(settings.username, settings.password),
    policies: {
      loadBalancing: localDatacenter === undefined ? new policies.loadBalancing.RoundRobinPolicy() : new LocalNodesPolicy(localDatacenter),
    },
    ...(tls && { sslOptions: tls }),
    socketOptions: { connectTimeout: settings.connectTimeoutMs, keepAlive: true, keepAliveDelay: keepAliveMs },
    ...(consistency !== undefined && { queryOptions: { consistency } }),
    // Users have nothing to do with tables.
    isMetadataSyncEnabled: false,
    // The operating system asks instead; the driver's timers outlive connections that were lost.
    pooling: { heartBeatInterval: 0 },
    monitorReporting: { enabled: false },
    applicationName: 'strongroom',
  });
}
