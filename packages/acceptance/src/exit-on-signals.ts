import { constants } from 'node:os';

/** Lets SIGINT and SIGTERM end this process in order, with code 130 and 143: the servers that it started end with it then, and would go on otherwise. */
export function exitOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(128 + constants.signals[signal]));
}
