import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';

export { freePort } from '@strongroom/lab';

/** The built command line. */
export const command = join(dirname(createRequire(import.meta.url).resolve('@strongroom/cli/package.json')), 'bin', 'strongroom.js');

/** What to start again and again: in tests a program that starts quickly, and where the time until a server is open is measured, the built command. */
export async function commandForManyStarts(): Promise<string> {
  return process.env['JEST_WORKER_ID'] === undefined ? command : (await import('@strongroom/lab')).bundledServer();
}

/** A server in a process of its own, as an operator runs it. */
export interface ServerProcess {
  readonly address: string;
  readonly pid: number;
  /** For messages to a module of `preload`. */
  readonly child: ChildProcess;
  /** Everything it wrote so far. */
  log(): string;
  /** The exit code, or the signal, once it has ended. */
  ended(): number | NodeJS.Signals | undefined;
  /** SIGKILL: no chance to say goodbye. */
  kill(): Promise<void>;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
}

export interface ServerProcessOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** The folder that it runs in. */
  readonly cwd?: string;
  /** The command to run; the repository's by default. */
  readonly command?: string;
  /** The Node.js executable; the one of this process by default. */
  readonly node?: string;
  /** URL of a module to load before the server; it may answer messages of its parent. */
  readonly preload?: string;
  /** Milliseconds until it must answer; a minute by default. */
  readonly patience?: number;
  /** Called with everything that it writes, as it comes; `log()` keeps the end alone. */
  readonly heard?: (text: string) => void;
}

/** Starts `strongroom server` with the words given and waits until it answers. */
export async function startServer(
  words: readonly string[],
  address: string,
  {
    env = process.env,
    cwd,
    command: file = command,
    node = process.execPath,
    preload,
    patience = 60_000,
    heard,
  }: ServerProcessOptions = {},
): Promise<ServerProcess> {
  const child = spawn(node, [...(preload === undefined ? [] : ['--import', preload]), file, 'server', ...words], {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe', ...(preload === undefined ? [] : ['ipc' as const])],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  let text = '';
  const keep = (chunk: string): void => {
    text = (text + chunk).slice(-200_000);
    heard?.(chunk);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  const killed = (): void => void child.kill('SIGKILL');
  process.once('exit', killed);
  await untilAnswering(child, address, () => text, patience);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    process.removeListener('exit', killed);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  return {
    address,
    pid: child.pid!,
    child,
    log: () => text,
    ended: () => child.exitCode ?? child.signalCode ?? undefined,
    kill: async () => end('SIGKILL'),
    stop: async () => end('SIGTERM'),
  };
}

async function untilAnswering(child: ChildProcess, address: string, log: () => string, patience: number): Promise<void> {
  const deadline = Date.now() + patience;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}: ${log()}`);
    try {
      await fetch(`${address}/v1/sys/seal-status`);
      return;
    } catch {
      if (Date.now() > deadline) throw new Error(`the server does not answer at ${address}: ${log()}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}
