import type { Log } from '@strongroom/engine-sdk';

/** Logs by name, each with a level of its own: `core`, `audit`, `expiration`, and one for each mount. */
export interface Loggers {
  /** The same level for the same name, however often it is asked for. */
  named(name: string): Log;
  /** The name is not used any more. */
  forget(name: string): void;
}

/** Every name stands for this log. */
export function oneLog(log: Log): Loggers {
  return { named: () => log, forget: () => undefined };
}
