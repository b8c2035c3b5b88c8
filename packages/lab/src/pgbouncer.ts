import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './find-program.ts';
import { freePorts } from './loopback.ts';
import type { PostgresServer } from './postgres-server.ts';
import { startProcess } from './server-process.ts';

/** A pooler before a PostgreSQL, on a free loopback port. */
export interface Pgbouncer {
  readonly port: number;
  /** As the superuser of the server behind it, database `postgres`. */
  readonly url: string;
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
  const [port] = (await freePorts(1)) as [number];
  await chmod(folder, 0o755);
  const users = join(folder, 'users.txt');
  await writeFile(users, `"${server.superuser}" "${server.password}"\n`, { mode: 0o644 });
  const settings = [
    '[databases]',
    `postgres = host=127.0.0.1 port=${server.port} dbname=postgres`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
    'default_pool_size = 12',
    'ignore_startup_parameters = extra_float_digits',
  ];
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, `${settings.join('\n')}\n`, { mode: 0o644 });
  // It refuses to run as root.
  const args = process.getuid?.() === 0 ? ['-u', 'nobody', file] : [file];
  const child = await startProcess(program, { args, cwd: folder, ready: 'process up' });
  return {
    port,
    url: `postgresql://${server.superuser}:${server.password}@127.0.0.1:${port}/postgres`,
    async stop() {
      await child.end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
