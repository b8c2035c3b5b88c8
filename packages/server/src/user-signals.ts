import type { Log } from '@strongroom/engine-sdk';

/** Node opens its debugger to every user of the machine at the first, and ends at the second. */
const SIGNALS = ['SIGUSR1', 'SIGUSR2'] as const;

let isIgnoring = false;
let ignored: (signal: string) => void = () => undefined;

/** Once a process, before anything large is loaded. */
export function ignoreUserSignals(): void {
  if (isIgnoring) return;
  isIgnoring = true;
  for (const signal of SIGNALS) process.on(signal, () => ignored(signal));
}

/** From now on, the log says that such a signal was ignored. */
export function logUserSignals(log: Log): void {
  ignored = (signal) => log.warn('the signal was ignored; SIGHUP reloads, SIGTERM stops', { signal });
}
