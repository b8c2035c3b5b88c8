import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import mysql from 'mysql2/promise';
import { freePorts } from './loopback.ts';
import type { MariadbLoginTls } from './mariadb-server.ts';
import { type ServerProcess, startProcess } from './server-process.ts';
import { findMysql } from './unpacked-server.ts';

const run = promisify(execFile);

/** A private MySQL on a free loopback port, its data in a temporary folder. */
export interface MysqlServer {
  readonly host: string;
  readonly port: number;
  /** The path of its Unix socket. */
  readonly socket: string;
  /** May do everything, from this machine. */
  readonly superuser: string;
  readonly password: string;
  /** One statement as the superuser, on a connection of its own. */
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Logs in as somebody and answers `CURRENT_USER()`; rejects as the server does. */
  login(username: string, password: string, tls?: MariadbLoginTls): Promise<string>;
  /** Ends it and starts it again on the same port. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
}

export interface MysqlOptions {
  /** PEM texts: offers TLS with this certificate, and takes client certificates of the authority. Without it, with a certificate that the server makes itself. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
}

/** Starts a server, or throws with the reason why none can be had. */
export async function startMysql({ tls }: MysqlOptions = {}): Promise<MysqlServer> {
  const found = await findMysql();
  if ('missing' in found) throw new Error(found.missing);
  const [superuser, password] = ['root', 'root-pw-2Kd'];
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-mysql-'));
  const [port] = (await freePorts(1)) as [number];
  const program = join(found.folder, 'run');
  const base = join(found.folder, 'root', 'usr');
  const common = [
    '/usr/sbin/mysqld',
    '--no-defaults',
    ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    `--datadir=${folder}/data`,
    `--basedir=${base}`,
    `--lc-messages-dir=${base}/share/mysql`,
  ];
  const first = join(folder, 'first.sql');
  const args = [
    ...common,
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    `--socket=${folder}/s.sock`,
    `--pid-file=${folder}/pid`,
    '--mysqlx=OFF',
    '--secure-file-priv=',
    '--innodb-buffer-pool-size=64M',
    ...Object.keys(tls ?? {}).map((name) => `--ssl-${name}=${folder}/${name}.pem`),
  ];
  const start = async (more: readonly string[] = []): Promise<ServerProcess> =>
    startProcess(program, { args: [...args, ...more], cwd: folder, ready: /ready for connections.*port: \d+/, timeoutMs: 60_000 });
  interface Asked {
    readonly values?: unknown[] | undefined;
    readonly ssl?: MariadbLoginTls | undefined;
  }
  const asUser = async (user: string, secret: string, sql: string, { values, ssl }: Asked = {}): Promise<Record<string, unknown>[]> => {
    const connection = await mysql.createConnection({ host: '127.0.0.1', port, user, password: secret, ...(ssl && { ssl: { ...ssl } }) });
    connection.on('error', () => undefined);
    try {
      return (await connection.query(sql, values))[0] as Record<string, unknown>[];
    } finally {
      connection.destroy();
    }
  };
  let running: ServerProcess | undefined;
  const stop = async (): Promise<void> => {
    await running?.end('SIGKILL');
    running = undefined;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    for (const [name, text] of Object.entries(tls ?? {})) await writeFile(join(folder, `${name}.pem`), text, { mode: 0o600 });
    await writeFile(first, `ALTER USER root@localhost IDENTIFIED BY '${password}';\n`);
    await run(program, [...common, '--initialize-insecure'], { timeout: 60_000, maxBuffer: 1 << 24 });
    running = await start([`--init-file=${first}`]);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    host: '127.0.0.1',
    port,
    socket: `${folder}/s.sock`,
    superuser,
    password,
    query: async (sql, values) => asUser(superuser, password, sql, { values }),
    login: async (username, secret, ssl) => String((await asUser(username, secret, 'SELECT CURRENT_USER() AS user', { ssl }))[0]?.['user']),
    async restart() {
      await running?.end('SIGKILL');
      running = await start();
    },
    stop,
  };
}
