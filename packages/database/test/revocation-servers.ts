import { mysqlPlugin } from '@strongroom/database-mysql';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { type MariadbServer, type MysqlServer, startPostgres } from '@strongroom/lab';
import { createConnection } from 'mysql2';
import pg from 'pg';
import { connectionTo, CREATION, usersOf } from './database-mount.ts';

/** A session that a user of the database has open. */
export interface OpenSession {
  /** Resolves once the server has ended it. */
  readonly ended: Promise<unknown>;
}

/** A database server for tests of revocation. */
export interface RevocationServer {
  readonly host: string;
  readonly port: number;
  readonly plugin: unknown;
  /** Settings of a connection through this port. */
  connection(port: number): Record<string, unknown>;
  /** Statements that make a user; one that owns something where asked for. */
  creation(owns: boolean): readonly string[];
  login(username: string, password: string): Promise<unknown>;
  session(username: string, password: string): Promise<OpenSession>;
  /** The names of the users that the plugin made and that are there. */
  users(): Promise<readonly string[]>;
  /** Takes away what keeps a user from being removed. */
  release(): Promise<void>;
  /** Takes away whatever a test left. */
  clean(): Promise<void>;
  stop(): Promise<void>;
}

const isMade = (name: string): boolean => name.startsWith('v-');

/** A PostgreSQL in which a user may own the table `owned`. */
export async function postgresServer(): Promise<RevocationServer> {
  const server = await startPostgres();
  const { host, port } = server;
  const owning = ['CREATE TABLE owned (a int)', 'ALTER TABLE owned OWNER TO "{{name}}"'];
  const users = async (): Promise<string[]> => (await usersOf(server)).filter(isMade);
  const release = async (): Promise<void> => void (await server.query('DROP TABLE IF EXISTS owned'));
  return {
    host,
    port,
    plugin: postgresqlPlugin,
    connection: (through) => connectionTo({ ...server, port: through }),
    creation: (owns) => (owns ? [CREATION, ...owning] : [CREATION, 'GRANT pg_monitor TO "{{name}}"']),
    login: async (username, password) => server.login(username, password),
    session: async (user, password) => {
      const client = new pg.Client({ host, port, user, password, database: 'postgres', ssl: false });
      client.on('error', () => undefined);
      const ended = new Promise<void>((resolve) => void client.once('end', resolve));
      await client.connect();
      return { ended };
    },
    users,
    release,
    clean: async () => {
      await release();
      for (const name of await users()) await server.query(`DROP ROLE "${name}"`);
    },
    stop: async () => server.stop(),
  };
}

/** A MySQL or MariaDB. */
export async function mysqlServer(start: () => Promise<MysqlServer | MariadbServer>): Promise<RevocationServer> {
  const server = await start();
  const { host, port } = server;
  const users = async (): Promise<string[]> =>
    (await server.query('SELECT User AS name FROM mysql.user')).map(({ name }) => String(name)).filter(isMade);
  return {
    host,
    port,
    plugin: mysqlPlugin,
    connection: (through) => ({
      plugin_name: 'mysql-database-plugin',
      allowed_roles: '*',
      connection_url: `{{username}}:{{password}}@tcp(${host}:${through})/`,
      username: server.superuser,
      password: server.password,
    }),
    creation: () => [`CREATE USER '{{name}}'@'%' IDENTIFIED BY '{{password}}'`, `GRANT PROCESS ON *.* TO '{{name}}'@'%'`],
    login: async (username, password) => server.login(username, password),
    session: async (user, password) => {
      const connection = createConnection({ host, port, user, password });
      connection.on('error', () => undefined);
      const ended = new Promise((resolve) => void connection.once('end', resolve));
      await new Promise<void>((resolve, reject) => void connection.connect((error) => (error ? reject(error) : resolve())));
      return { ended };
    },
    users,
    release: async () => undefined,
    clean: async () => {
      for (const name of await users()) await server.query(`DROP USER '${name}'@'%'`);
    },
    stop: async () => server.stop(),
  };
}
