import { constants } from 'node:os';

/**
 * Lets SIGINT and SIGTERM end this process in order, with code 130 and 143: the servers that it started end with it then, and would go on otherwise. `first` is done before; a
 * second signal does not wait for it.
 */
export function exitOnSignals(first: () => Promise<void> = async () => undefined): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void first().finally(() => process.exit(128 + constants.signals[signal])));
}
