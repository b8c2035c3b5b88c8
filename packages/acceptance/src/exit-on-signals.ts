import { constants } from 'node:os';

/** One signal may come twice: to the whole group of processes, and from the parent, which passes it on. */
const SAME_MS = 1_000;

/**
 * Lets SIGINT, SIGTERM and SIGHUP end this process in order, with code 130, 143 and 129: the servers that it started end with it then, and would go on otherwise. `first` is done
 * before; a later signal does not wait for it.
 */
export function exitOnSignals(first: () => Promise<void> = async () => undefined): void {
  let came: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const exit = (): never => process.exit(128 + constants.signals[signal]);
      if (came !== undefined) return void (performance.now() - came > SAME_MS && exit());
      came = performance.now();
      void first().finally(exit);
    });
  }
}
