import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findProgram } from './find-program.ts';
import { freePorts } from './loopback.ts';
import type { PostgresServer } from './postgres-server.ts';
import { startProcess } from './server-process.ts';

/** A pooler before a PostgreSQL, on a free loopback port. */
export interface Pgbouncer {
  readonly port: number;
  /** As the superuser of the server behind it, database `postgres`. */
  readonly url: string;
  /** From now on new sessions are those of this server: what an operator does after a failover. */
  pointTo(server: PostgresServer): Promise<void>;
  stop(): Promise<void>;
}

/** Why PgBouncer cannot be started here; undefined where it can. */
export function pgbouncerMissing(): string | undefined {
  return findProgram('pgbouncer') ? undefined : 'pgbouncer is not installed here';
}

/** In transaction mode each transaction gets another session of the server, in session mode each client keeps one. */
export async function startPgbouncer(server: PostgresServer, mode: 'transaction' | 'session'): Promise<Pgbouncer> {
  const program = findProgram('pgbouncer');
  if (program === undefined) throw new Error('pgbouncer is not installed here');
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-pgbouncer-'));
  const [listenPort] = (await freePorts(1)) as [number];
  await chmod(folder, 0o755);
  const users = join(folder, 'users.txt');
  await writeFile(users, `"${server.superuser}" "${server.password}"\n`, { mode: 0o644 });
  const settingsFor = (port: number): string[] => [
    '[databases]',
    `postgres = host=127.0.0.1 port=${port} dbname=postgres`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    `admin_users = ${server.superuser}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
    'default_pool_size = 12',
    'ignore_startup_parameters = extra_float_digits',
  ];
  const file = join(folder, 'pgbouncer.ini');
  const configure = async (port: number): Promise<void> => writeFile(file, `${settingsFor(port).join('\n')}\n`, { mode: 0o644 });
  await configure(server.port);
  // It refuses to run as root.
  const args = process.getuid?.() === 0 ? ['-u', 'nobody', file] : [file];
  const child = await startProcess(program, { args, cwd: folder, ready: 'process up' });
  const url = `postgresql://${server.superuser}:${server.password}@127.0.0.1:${listenPort}/postgres`;
  return {
    port: listenPort,
    url,
    async pointTo(next) {
      await configure(next.port);
      const console = new pg.Client({ connectionString: url.replace(/postgres$/, 'pgbouncer') });
      await console.connect();
      await console.query('RELOAD');
      await console.end();
    },
    async stop() {
      await child.end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
