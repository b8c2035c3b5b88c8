import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import mysql from 'mysql2/promise';
import { describeWhere } from './describe-where.ts';
import { freePorts } from './loopback.ts';
import { accountInPlaceOfRoot } from './server-account.ts';

const run = promisify(execFile);

/** A private MariaDB on a free loopback port, its data in a temporary folder. */
export interface MariadbServer {
  readonly host: string;
  readonly port: number;
  /** The path of its Unix socket. */
  readonly socket: string;
  /** May do everything, from any host. */
  readonly superuser: string;
  readonly password: string;
  /** Version text of the server, such as `10.11.14-MariaDB-0+deb12u2`. */
  readonly version: string;
  /** One statement as the superuser, on a connection of its own. */
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Logs in as somebody and answers `CURRENT_USER()`, such as `v-app@%`; rejects as the server does. */
  login(username: string, password: string, tls?: MariadbLoginTls): Promise<string>;
  /** Kills the server without removing its data. */
  halt(): Promise<void>;
  /** Halts it if it runs, and starts it again on the same port. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
}

/** PEM texts. */
export interface MariadbLoginTls {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface MariadbOptions {
  /** Lines for the `[mariadbd]` section of its option file. */
  readonly settings?: readonly string[];
  /** PEM texts: offers TLS with this certificate, and takes client certificates of the authority. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
}

const superuser = 'root';
const password = 'root-pw-7Qz';
const server = ['/usr/sbin/mariadbd', '/usr/libexec/mariadbd', '/usr/local/bin/mariadbd'].find((path) => existsSync(path));
const installer = ['/usr/bin/mariadb-install-db', '/usr/local/bin/mariadb-install-db'].find((path) => existsSync(path));

/** Why no MariaDB can be started here; undefined where one can. */
export const mariadbMissing =
  server === undefined || installer === undefined ? 'no MariaDB server (mariadbd, mariadb-install-db) is installed here' : undefined;

/** `describe` for tests that need MariaDB; where it is missing they are skipped, with the reason in the title. */
export function describeWithMariadb(title: string, body: () => void): void {
  describeWhere(mariadbMissing, title, body);
}

/** Starts a server, or throws if none is installed. Where the tests run as root, it runs as `mysql`. */
export async function startMariadb(options: MariadbOptions = {}): Promise<MariadbServer> {
  if (mariadbMissing !== undefined) throw new Error(mariadbMissing);
  const account = accountInPlaceOfRoot('mysql');
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-mariadb-'));
  const data = join(folder, 'data');
  const socket = join(folder, 's.sock');
  const [port] = await freePorts(1);
  let child: ChildProcess | undefined;
  const kill = (): void => {
    child?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  const put = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600 });
    if (account.uid !== undefined) await chown(path, account.uid, account.gid!);
    return path;
  };

  const start = async (): Promise<void> => {
    const started = spawn(server!, [`--defaults-file=${join(folder, 'my.cnf')}`], {
      ...account,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = started;
    await new Promise<void>((resolve, reject) => {
      let log = '';
      started.stderr!.setEncoding('utf8').on('data', (text: string) => {
        if (log.length < 50_000) log += text;
        if (log.includes('ready for connections')) resolve();
      });
      started.once('error', reject).once('exit', (code) => reject(new Error(`mariadbd ended with ${code}: ${log}`)));
    });
    // A server that a failed test forgot must not keep the test run alive.
    started.unref();
    (started.stderr as Socket).unref();
  };
  const halt = async (): Promise<void> => {
    const stopping = child;
    child = undefined;
    if (!stopping || stopping.exitCode !== null || stopping.signalCode !== null) return;
    const ended = new Promise((resolve) => stopping.once('exit', resolve));
    stopping.ref();
    stopping.kill('SIGKILL');
    await ended;
  };
  const stop = async (): Promise<void> => {
    await halt();
    process.removeListener('exit', kill);
    await rm(folder, { recursive: true, force: true });
  };
  const asUser = async <T>(
    user: string,
    secret: string,
    work: (connection: mysql.Connection) => Promise<T>,
    tls?: MariadbLoginTls,
  ): Promise<T> => {
    const connection = await mysql.createConnection({
      host: '127.0.0.1',
      port: port!,
      user,
      password: secret,
      ...(tls && { ssl: { ...tls } }),
    });
    connection.on('error', () => undefined);
    try {
      return await work(connection);
    } finally {
      connection.destroy();
    }
  };
  const query = (sql: string, values?: unknown[]): Promise<Record<string, unknown>[]> =>
    asUser(superuser, password, async (connection) => (await connection.query(sql, values))[0] as Record<string, unknown>[]);

  process.once('exit', kill);
  try {
    if (account.uid !== undefined) await chown(folder, account.uid, account.gid!);
    const flags = [
      '--no-defaults',
      `--datadir=${data}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--skip-name-resolve',
    ];
    await run(installer!, flags, { ...account, cwd: folder });
    const files = Object.entries(options.tls ?? {}).map(async ([name, text]) => `ssl-${name}=${await put(`${name}.pem`, text)}`);
    // An init-file holds one statement a line.
    const first = await put(
      'first.sql',
      [
        "DELETE FROM mysql.global_priv WHERE User = '' OR Host <> 'localhost';",
        'FLUSH PRIVILEGES;',
        `CREATE USER '${superuser}'@'%' IDENTIFIED BY '${password}';`,
        `GRANT ALL PRIVILEGES ON *.* TO '${superuser}'@'%' WITH GRANT OPTION;\n`,
      ].join('\n'),
    );
    const settings = [
      `datadir=${data}`,
      `port=${port}`,
      'bind-address=127.0.0.1',
      `socket=${socket}`,
      `pid-file=${join(folder, 'pid')}`,
      'skip-name-resolve',
      'innodb-flush-log-at-trx-commit=2',
      'innodb-buffer-pool-size=32M',
      'innodb-log-file-size=16M',
      ...(await Promise.all(files)),
      ...(options.settings ?? []),
    ];
    const write = (more: readonly string[]): Promise<string> => put('my.cnf', `[mariadbd]\n${[...settings, ...more].join('\n')}\n`);
    await write([`init-file=${first}`]);
    await start();
    await write([]);
    const version = String((await query('SELECT VERSION() AS version'))[0]!['version']);
    return {
      host: '127.0.0.1',
      port: port!,
      socket,
      superuser,
      password,
      version,
      query,
      login: (username, secret, tls) =>
        asUser(
          username,
          secret,
          async (connection) => String(((await connection.query('SELECT CURRENT_USER() AS me'))[0] as { me: string }[])[0]!.me),
          tls,
        ),
      halt,
      async restart() {
        await halt();
        await start();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
