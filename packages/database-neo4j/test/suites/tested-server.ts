import type { DatabaseSession } from '@strongroom/database-sdk';
import { loggingHost, usual, withSession } from '@strongroom/database-testkit';
import {
  createTestCa,
  type Neo4jServer,
  startNeo4j,
  startStallingProxy,
  type StallingProxy,
  startTcpProxy,
  startTlsFront,
  type TcpProxy,
  type TlsFront,
} from '@strongroom/lab';
import { type Neo4jConnection, neo4jPlugin } from '../../src/index.ts';

/** In a statement: keeps it from the server. */
export const KEPT_BACK = 'kept-back';

/** The one server of the suite: by itself, behind a proxy that keeps statements back, and behind TLS. */
export class TestedServer {
  readonly ca = createTestCa();
  readonly host = loggingHost();
  server!: Neo4jServer;
  proxy!: StallingProxy;
  front!: TlsFront;
  #line!: TcpProxy;

  async start(): Promise<void> {
    this.server = await startNeo4j();
    this.#line = await startTcpProxy(this.server.port);
    this.proxy = await startStallingProxy({ host: '127.0.0.1', port: this.#line.port }, KEPT_BACK);
    this.front = await startTlsFront(this.server, this.ca.issue('neo4j', ['DNS:localhost']));
  }

  async stop(): Promise<void> {
    await this.proxy?.close();
    await this.#line?.stop();
    await this.front?.close();
    await this.server?.stop();
  }

  /** For clients of the proxy it is as if the server had been restarted. */
  async breakConnections(): Promise<void> {
    this.#line.cut();
  }

  config(change: Partial<Neo4jConnection> = {}): Neo4jConnection {
    const { port, superuser, password } = this.server;
    return { connection_url: `bolt://127.0.0.1:${port}`, username: superuser, password, ...change };
  }

  withSession(work: (session: DatabaseSession) => Promise<void>, change?: Partial<Neo4jConnection>): Promise<void> {
    return withSession(() => neo4jPlugin.open(this.config(change), this.host), work);
  }

  verify(change: Partial<Neo4jConnection>): Promise<void> {
    return this.withSession((session) => session.verify(usual.signal()), change);
  }

  async create(session: DatabaseSession, username: string, commands: string[] = [], undo: string[] = []): Promise<void> {
    const { credential, expiresAt, signal } = usual;
    const request = { username, credential, expiresAt, statements: { commands }, rollback: { commands: undo } };
    await session.createUser({ ...request, signal: signal() });
  }

  async remove(session: DatabaseSession, username: string, endSessions = false): Promise<void> {
    await session.deleteUser({ username, statements: usual.none, endSessions, signal: usual.signal() });
  }

  /** Logs in past the plugin. */
  login(username: string, secret: string): Promise<unknown> {
    return this.server.query(username, secret, 'SHOW CURRENT USER');
  }

  async users(): Promise<unknown[]> {
    return (await this.server.query(this.server.superuser, this.server.password, 'SHOW USERS')).map(({ user }) => user);
  }
}
