import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describeWhere } from './describe-where.ts';
import { freePorts } from './loopback.ts';

export interface MotoOptions {
  /** More of moto's environment; its managed policies are loaded unless this says otherwise. */
  readonly env?: Readonly<Record<string, string>>;
  /** So many calls are answered before credentials and policies are enforced; without it they never are. */
  readonly authenticated?: number;
}

/** Amazon's services as moto emulates them, on a free loopback port. */
export interface MotoServer {
  /** For `endpoint` of a client: IAM, STS, Secrets Manager and others, all in one. */
  readonly endpoint: string;
  /** Forgets everything that was made. What is enforced stays enforced. */
  reset(): Promise<void>;
  /** From now on `calls` more are answered before credentials and policies are enforced; Infinity: never. */
  enforce(calls: number): Promise<void>;
  stop(): Promise<void>;
}

const python =
  process.env['STRONGROOM_PYTHON'] ??
  ['python', 'python3']
    .map((name) => fileURLToPath(new URL(`../../../.strongroom/python/bin/${name}`, import.meta.url)))
    .find((path) => existsSync(path));

/** At each call moto lists the folder of its own modules and writes a line of log, which takes longer than the answer: this one does neither. */
const PROGRAM = `
from moto import backends
from moto.server import main
from werkzeug.serving import WSGIRequestHandler

modules = tuple(backends.list_of_moto_modules())
backends.list_of_moto_modules = lambda: modules
WSGIRequestHandler.log_request = lambda *_: None
main()
`;

/** Why tests against moto cannot run here; undefined when they can. */
export const motoMissing =
  python === undefined
    ? 'moto is not installed (pip install "moto[server]" into .strongroom/python, or name a Python that has it in STRONGROOM_PYTHON)'
    : existsSync(python)
      ? undefined
      : `STRONGROOM_PYTHON names ${python}, which is not there`;

/** `describe` for tests that need moto; without it they are skipped, and the title and a warning say why. */
export function describeWithMoto(title: string, body: () => void): void {
  describeWhere(motoMissing, title, body);
}

/** Starts a server with nothing in it but Amazon's managed policies. */
export async function startMoto({ env = {}, authenticated }: MotoOptions = {}): Promise<MotoServer> {
  if (motoMissing !== undefined) throw new Error(motoMissing);
  const [port] = (await freePorts(1)) as [number];
  const endpoint = `http://127.0.0.1:${port}`;
  const server = spawn(python!, ['-c', PROGRAM, '-H', '127.0.0.1', '-p', String(port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      MOTO_IAM_LOAD_MANAGED_POLICIES: 'true',
      ...(authenticated === undefined ? {} : { INITIAL_NO_AUTH_ACTION_COUNT: String(authenticated) }),
      ...env,
    },
  });
  const kill = (): void => void server.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()).once('error', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let log = '';
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      // Read to the end, or the server would one day wait for its own log.
      if (log.length < 20_000) log += text;
      if (log.includes('Running on')) resolve();
    });
    server.once('error', reject).once('exit', (code) => {
      process.removeListener('exit', kill);
      reject(new Error(`moto ended with ${code}: ${log}`));
    });
  });
  // A server that a failed test forgot must not keep the test run alive.
  server.unref();
  (server.stderr as Socket).unref();

  const tell = async (path: string, body = ''): Promise<void> => {
    // Without this content type moto takes the body for a form, and finds nothing in it.
    const answer = await fetch(`${endpoint}/moto-api/${path}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/octet-stream' },
    });
    if (!answer.ok) throw new Error(`moto answers ${answer.status} to ${path}: ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  return {
    endpoint,
    reset: () => tell('reset'),
    enforce: (calls) => tell('reset-auth', calls === Infinity ? 'inf' : String(calls)),
    stop: async () => {
      process.removeListener('exit', kill);
      if (server.exitCode === null && server.signalCode === null) {
        server.ref();
        server.kill('SIGTERM');
        const force = setTimeout(kill, 5_000);
        await ended;
        clearTimeout(force);
      }
    },
  };
}
