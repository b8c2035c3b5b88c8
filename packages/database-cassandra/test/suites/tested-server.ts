import cassandra from 'cassandra-driver';
import type { DatabaseHost, DatabaseSession } from '@strongroom/database-sdk';
import {
  type CassandraServer,
  createTestCa,
  startCassandra,
  startStallingProxy,
  type StallingProxy,
  startTlsFront,
  type TlsFront,
} from '@strongroom/lab';
import { type CassandraConnection, cassandraPlugin } from '../../src/index.ts';

/** In a statement: keeps it from the server. */
export const SLOW = 'kept_back';
export const password = 'Abc-123456789012345';
/** Not the one that every Cassandra begins with, which is also its user's name. */
const ROOT_PASSWORD = 'root-pw-8Jd';
export const credential = { type: 'password', password } as const;
export const signal = (): AbortSignal => AbortSignal.timeout(20_000);

/** The one server of the suite: plain and with TLS on the same port, behind a proxy that can be slow, and behind one that asks for certificates. */
export class TestedServer {
  readonly ca = createTestCa();
  readonly logged: string[] = [];
  readonly host: DatabaseHost;
  server!: CassandraServer;
  proxy!: StallingProxy;
  demanding!: TlsFront;

  constructor() {
    const log = (message: string, fields?: Readonly<Record<string, unknown>>): void =>
      void this.logged.push(`${message} ${JSON.stringify(fields)}`);
    this.host = { log: { debug: log, info: log, warn: log, error: log }, now: () => new Date() };
  }

  async start(): Promise<void> {
    const own = this.ca.issue('cassandra', ['DNS:localhost', 'DNS:node.test']);
    this.server = await startCassandra({ tls: { ca: this.ca.certificate, ...own } });
    await this.asRoot(`ALTER USER cassandra WITH PASSWORD '${ROOT_PASSWORD}'`, this.server.password);
    this.proxy = await startStallingProxy(this.server, SLOW);
    const demands = { ca: this.ca.certificate, requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' } as const;
    this.demanding = await startTlsFront(this.server, { ...own, ...demands });
  }

  async stop(): Promise<void> {
    await this.proxy?.close();
    await this.demanding?.close();
    await this.server?.stop();
  }

  config(change: Partial<CassandraConnection> = {}): CassandraConnection {
    const { port, superuser } = this.server;
    return { hosts: '127.0.0.1', port, username: superuser, password: ROOT_PASSWORD, ...change };
  }

  async withSession(work: (session: DatabaseSession) => Promise<void>, change?: Partial<CassandraConnection>): Promise<void> {
    const session = await cassandraPlugin.open(this.config(change), this.host);
    try {
      await work(session);
    } finally {
      await session.close();
    }
  }

  verify(change: Partial<CassandraConnection>): Promise<void> {
    return this.withSession((session) => session.verify(signal()), change);
  }

  async create(session: DatabaseSession, username: string, commands: string[] = [], undo: string[] = []): Promise<void> {
    const request = { username, credential, expiresAt: new Date(), statements: { commands }, rollback: { commands: undo } };
    await session.createUser({ ...request, signal: signal() });
  }

  /** One statement past the plugin. */
  async query(username: string, secret: string, statement: string): Promise<cassandra.types.Row[]> {
    const client = new cassandra.Client({
      contactPoints: [`127.0.0.1:${this.server.port}`],
      protocolOptions: { port: this.server.port },
      localDataCenter: 'datacenter1',
      credentials: { username, password: secret },
      isMetadataSyncEnabled: false,
    });
    try {
      return (await client.execute(statement)).rows;
    } finally {
      await client.shutdown();
    }
  }

  asRoot(statement: string, secret = ROOT_PASSWORD): Promise<cassandra.types.Row[]> {
    return this.query(this.server.superuser, secret, statement);
  }

  /** Logs in past the plugin. */
  login(username: string, secret: string): Promise<unknown> {
    return this.query(username, secret, 'SELECT release_version FROM system.local');
  }

  async roles(): Promise<string[]> {
    return (await this.asRoot('LIST ROLES')).map((role) => String(role['role']));
  }
}
