import type { Log } from '@strongroom/engine-sdk';

/** Node opens its debugger to every user of the machine at the first, and ends at the second. */
const IGNORED = ['SIGUSR1', 'SIGUSR2'] as const;

let isIgnoring = false;
let ignored: (signal: string) => void = () => undefined;
let reloads = false;
const noteReload = (): void => void (reloads = true);

/**
 * Call it before anything large is loaded. From then on, SIGUSR1 and SIGUSR2 are ignored, and SIGHUP ends no process: who reloads hears of it later. What it returns lets
 * SIGHUP go.
 */
export function holdSignals(): () => void {
  ignoreUserSignals();
  process.on('SIGHUP', noteReload);
  return () => void process.off('SIGHUP', noteReload);
}

/** Once a process. */
export function ignoreUserSignals(): void {
  if (isIgnoring) return;
  isIgnoring = true;
  for (const signal of IGNORED) process.on(signal, () => ignored(signal));
}

/** From now on, the log says that such a signal was ignored. */
export function logUserSignals(log: Log): void {
  ignored = (signal) => log.warn('the signal was ignored; SIGHUP reloads, SIGTERM stops', { signal });
}

/** Whether a reload was asked for since this was asked last. */
export function takeHeldReload(): boolean {
  const told = reloads;
  reloads = false;
  return told;
}
