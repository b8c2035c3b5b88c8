export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
/** A level of the log, from the most to the least that is written. */
export type LogLevel = (typeof logLevels)[number];

const otherVariants: Readonly<Record<string, LogLevel>> = { notice: 'info', warning: 'warn', err: 'error' };

/** The level that a text means, in any case and in the usual variants. */
export function logLevel(text: string): LogLevel | undefined {
  const lower = text.trim().toLowerCase();
  return logLevels.find((level) => level === lower) ?? (Object.hasOwn(otherVariants, lower) ? otherVariants[lower] : undefined);
}

/** What each part of the server writes to its log. Changes hold until the process ends. */
export interface LogLevelStore {
  /** Every logger's level, by name. */
  list(): ReadonlyMap<string, LogLevel>;
  /** Of one logger, or of all. */
  set(level: LogLevel, name?: string): void | Promise<void>;
  /** Back to the configured level. */
  reset(name?: string): void | Promise<void>;
}

/** The levels of one process; its log asks `allows` before it writes. */
export class LogLevels implements LogLevelStore {
  readonly #configured: LogLevel;
  readonly #levels: Map<string, LogLevel>;

  constructor(configured: LogLevel, names: readonly string[]) {
    this.#configured = configured;
    this.#levels = new Map(names.map((name) => [name, configured]));
  }

  /** Whether a logger writes this; one that has no name of its own goes by the configured level. */
  allows(level: LogLevel, name: string): boolean {
    return logLevels.indexOf(level) >= logLevels.indexOf(this.#levels.get(name) ?? this.#configured);
  }

  list(): ReadonlyMap<string, LogLevel> {
    return this.#levels;
  }

  set(level: LogLevel, name?: string): void {
    for (const each of name === undefined ? [...this.#levels.keys()] : [name]) if (this.#levels.has(each)) this.#levels.set(each, level);
  }

  reset(name?: string): void {
    this.set(this.#configured, name);
  }
}
