import { startMariadb, startPostgres } from '@strongroom/lab';

/** A real database that a server under torture makes users in. */
export interface TortureDatabase {
  readonly name: string;
  /** What `config/<name>` takes, logged in as `username`. */
  connection(username: string, password: string): Record<string, unknown>;
  readonly superuser: string;
  readonly password: string;
  /** The creation statements of a role. */
  readonly creation: readonly string[];
  /** Makes a user that can change every user's password, its own too. */
  makeAdministrator(username: string, password: string): Promise<void>;
  makeUser(username: string, password: string): Promise<void>;
  /** The users whose names begin with `v-`. */
  users(): Promise<string[]>;
  /** Rejects as the server does. */
  login(username: string, password: string): Promise<unknown>;
  stop(): Promise<void>;
}

export async function torturePostgres(): Promise<TortureDatabase> {
  const server = await startPostgres({ settings: ['max_connections=100'] });
  const make = async (username: string, password: string, more: string): Promise<void> => {
    await server.query(`CREATE ROLE "${username}" LOGIN ${more} PASSWORD '${password}'`);
  };
  return {
    name: 'PostgreSQL',
    connection: (username, password) => ({
      plugin_name: 'postgresql-database-plugin',
      connection_url: `postgresql://{{username}}:{{password}}@127.0.0.1:${server.port}/postgres?sslmode=disable`,
      username,
      password,
    }),
    superuser: server.superuser,
    password: server.password,
    creation: [`CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'`],
    makeAdministrator: async (username, password) => make(username, password, 'SUPERUSER'),
    makeUser: async (username, password) => make(username, password, ''),
    users: async () =>
      (await server.query<{ rolname: string }>(`SELECT rolname FROM pg_roles WHERE rolname LIKE 'v-%'`)).map(({ rolname }) => rolname),
    login: async (username, password) => server.login(username, password),
    stop: async () => server.stop(),
  };
}

export async function tortureMariadb(): Promise<TortureDatabase> {
  const server = await startMariadb();
  return {
    name: 'MariaDB',
    connection: (username, password) => ({
      plugin_name: 'mysql-database-plugin',
      connection_url: `{{username}}:{{password}}@tcp(127.0.0.1:${server.port})/`,
      username,
      password,
    }),
    superuser: server.superuser,
    password: server.password,
    creation: [`CREATE USER '{{name}}'@'%' IDENTIFIED BY '{{password}}'`],
    makeAdministrator: async (username, password) => {
      await server.query(`CREATE USER '${username}'@'%' IDENTIFIED BY '${password}'`);
      await server.query(`GRANT ALL PRIVILEGES ON *.* TO '${username}'@'%' WITH GRANT OPTION`);
    },
    makeUser: async (username, password) => {
      await server.query(`CREATE USER '${username}'@'%' IDENTIFIED BY '${password}'`);
    },
    users: async () => (await server.query(`SELECT User AS name FROM mysql.user WHERE User LIKE 'v-%'`)).map(({ name }) => String(name)),
    login: async (username, password) => server.login(username, password),
    stop: async () => server.stop(),
  };
}
