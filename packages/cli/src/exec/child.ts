import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Failure } from '../failure.ts';
import { reasonOf } from '../file-failure.ts';

/** Exit codes of shells for a command that is not there, or that cannot be executed. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGINT'] as const;

/** A command that runs with the standard streams of this process. */
export interface Child {
  /** Its exit code; 128 and the number of the signal that ended it, as in shells. Rejects with a Failure where it cannot be started. */
  readonly exit: Promise<number>;
  /** Asks it to end, and ends it after `grace` seconds. Resolves when it has ended. */
  stop(grace: number): Promise<void>;
}

/**
 * Starts a command. Signals that this process gets are passed on to it. SIGINT is not where a terminal sends it: the terminal sends it to both.
 */
export function startChild(command: string, args: readonly string[], env: Readonly<Record<string, string>>, terminal: boolean): Child {
  const child = spawn(command, args, { stdio: 'inherit', env });
  const listeners = FORWARDED.map((signal) => {
    const listener = (): void => void (signal === 'SIGINT' && terminal ? undefined : child.kill(signal));
    process.on(signal, listener);
    return { signal, listener };
  });
  const exit = new Promise<number>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const missing = error.code === 'ENOENT';
      reject(
        new Failure(
          `"${command}" ${missing ? 'was not found' : `cannot be executed: ${reasonOf(error)}`}`,
          missing ? NOT_FOUND : NOT_EXECUTABLE,
        ),
      );
    });
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  }).finally(() => {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  });
  return {
    exit,
    async stop(grace) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => void child.kill('SIGKILL'), grace * 1_000);
      await exit.catch(() => undefined);
      clearTimeout(timer);
    },
  };
}
