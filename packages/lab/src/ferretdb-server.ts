import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePorts } from './loopback.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

const run = promisify(execFile);

/** Speaks MongoDB's protocol and keeps users, but knows no roles. */
export interface FerretdbServer {
  readonly host: string;
  readonly port: number;
  /** Where TLS is spoken, if `tls` was given. */
  readonly tlsPort: number;
  /** The first user, of the database `admin`. */
  readonly superuser: string;
  readonly password: string;
  /** Halts it if it runs, and starts it again on the same ports. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
}

export interface FerretdbOptions {
  /** PEM. With `ca` clients need a certificate of that authority. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string };
}

const INSTALL = fileURLToPath(new URL('../scripts/install-ferretdb.mjs', import.meta.url));

/** The path of FerretDB, built the first time, which takes a minute and Go; or why there is none. */
export async function findFerretdb(): Promise<{ readonly program: string } | { readonly missing: string }> {
  try {
    const { stdout } = await run(process.execPath, [INSTALL]);
    return { program: stdout.trim() };
  } catch (error) {
    return { missing: `FerretDB could not be built: ${String((error as { stderr?: string }).stderr || error).trim()}` };
  }
}

export async function startFerretdb({ tls }: FerretdbOptions = {}): Promise<FerretdbServer> {
  const found = await findFerretdb();
  if ('missing' in found) throw new Error(found.missing);
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-ferretdb-'));
  const [port, tlsPort] = (await freePorts(2)) as [number, number];
  const superuser = 'root';
  const password = 'root-pw-3Hm';
  const args = [
    '--handler=sqlite',
    `--sqlite-url=file:${folder}/`,
    `--state-dir=${folder}`,
    `--listen-addr=127.0.0.1:${port}`,
    '--debug-addr=-',
    '--telemetry=disable',
    '--log-level=INFO',
    '--test-enable-new-auth',
    `--setup-username=${superuser}`,
    `--setup-password=${password}`,
    '--setup-database=admin',
  ];
  if (tls) {
    for (const [name, text] of Object.entries(tls)) await writeFile(join(folder, name), text, { mode: 0o600 });
    args.push(`--listen-tls=127.0.0.1:${tlsPort}`, `--listen-tls-cert-file=${folder}/cert`, `--listen-tls-key-file=${folder}/key`);
    if (tls.ca) args.push(`--listen-tls-ca-file=${folder}/ca`);
  }
  const start = (): Promise<ServerProcess> =>
    startProcess(found.program, { args, cwd: folder, ready: tls ? /Listening on TLS/ : /Listening on TCP/ });
  let running: ServerProcess | undefined;
  const halt = async (): Promise<void> => {
    await running?.end('SIGKILL');
    running = undefined;
  };
  const stop = async (): Promise<void> => {
    await halt();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    running = await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    host: '127.0.0.1',
    port,
    tlsPort,
    superuser,
    password,
    async restart() {
      await halt();
      running = await start();
    },
    stop,
  };
}
