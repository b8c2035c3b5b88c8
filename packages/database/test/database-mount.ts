import { type ManualClock, manualClock, mountForTest, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { databaseEngine } from '../src/index.ts';
import type { PostgresServer } from '@strongroom/lab';

export const CREATION = `CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';`;

/** A connection that keeps user name and password apart from its URL. */
export function connectionTo(server: PostgresServer, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    plugin_name: 'postgresql-database-plugin',
    allowed_roles: '*',
    connection_url: `postgresql://{{username}}:{{password}}@${server.host}:${server.port}/postgres?sslmode=disable`,
    username: server.superuser,
    password: server.password,
    ...more,
  };
}

/** The database engine at `database/`, its clock where the real one is, since PostgreSQL has no other. */
export async function mountDatabase(options: Partial<TestMountOptions> & { clock?: ManualClock } = {}): Promise<TestMount> {
  return mountForTest(databaseEngine, { plugins: [postgresqlPlugin], clock: manualClock(new Date()), ...options });
}

/** With connection `pg` and role `app` (1 h, at most 24 h). */
export async function mountWithRole(server: PostgresServer, options: Partial<TestMountOptions> = {}): Promise<TestMount> {
  const mount = await mountDatabase(options);
  await mount.write('config/pg', connectionTo(server));
  await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION, default_ttl: '1h', max_ttl: '24h' });
  return mount;
}

/** The names of the users that exist besides the superuser. */
export async function usersOf(server: PostgresServer): Promise<string[]> {
  const rows = await server.query<{ rolname: string }>(
    `SELECT rolname FROM pg_roles WHERE rolname NOT LIKE 'pg\\_%' AND rolname <> 'postgres' ORDER BY 1`,
  );
  return rows.map((row) => row.rolname);
}

export async function expiryOf(server: PostgresServer, username: string): Promise<number> {
  const [row] = await server.query<{ until: Date }>('SELECT rolvaliduntil AS until FROM pg_roles WHERE rolname = $1', [username]);
  return row!.until.getTime();
}

/**
 * Moves the clock in steps that are shorter than the deadline of a call: a database answers in real time, and a leap of the clock over a call
 * would end it.
 */
export async function pass(mount: TestMount, seconds: number, step = 30): Promise<void> {
  for (let left = seconds; left > 0; left -= step) await mount.advance(Math.min(step, left));
}
