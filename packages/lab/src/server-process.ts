import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

export interface ProcessOptions {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What the server writes, to either stream, once it can be used. */
  readonly ready: string | RegExp;
  readonly timeoutMs?: number;
  /** The account to run as, where that is not ours. */
  readonly account?: { readonly uid?: number; readonly gid?: number };
}

/** A server that runs until it is ended, at the latest with this process. */
export interface ServerProcess {
  /** Asks the server to end by a signal, and makes it after five seconds. Idempotent. */
  end(signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal that does not end it, such as SIGSTOP. */
  signal(signal: NodeJS.Signals): void;
}

const KEPT_OUTPUT = 20_000;
const FORCE_AFTER_MS = 5_000;

/** Starts a program and waits until it says that it is ready. Rejects, with what it wrote, if it ends or the time is up before that. */
export async function startProcess(
  program: string,
  { args, cwd, env, ready, timeoutMs = 30_000, account }: ProcessOptions,
): Promise<ServerProcess> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], ...account });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const end = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    process.removeListener('exit', kill);
    await ended(child, signal);
  };
  try {
    await said(child, ready, timeoutMs, program);
  } catch (error) {
    await end();
    throw error;
  }
  // A server that a failed test forgot must not keep the test run alive.
  child.unref();
  for (const stream of [child.stdout, child.stderr]) (stream as Socket).unref();
  return { end, signal: (signal) => void child.kill(signal) };
}

function said(child: ChildProcess, ready: string | RegExp, timeoutMs: number, program: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new Error(`${program} was not ready in time: ${output}`)), timeoutMs);
    const hear = (text: string): void => {
      output = (output + text).slice(-KEPT_OUTPUT);
      if (!(typeof ready === 'string' ? output.includes(ready) : ready.test(output))) return;
      clearTimeout(timer);
      resolve();
    };
    for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', hear);
    const fail = (error: Error): void => {
      clearTimeout(timer);
      reject(error);
    };
    child.once('error', fail).once('exit', (code, signal) => fail(new Error(`${program} ended with ${code ?? signal}: ${output}`)));
  });
}

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return resolve();
    child.ref();
    const force = setTimeout(() => child.kill('SIGKILL'), FORCE_AFTER_MS);
    child.once('exit', () => {
      clearTimeout(force);
      resolve();
    });
    child.kill(signal);
  });
}
