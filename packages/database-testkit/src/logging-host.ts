import type { DatabaseHost } from '@strongroom/database-sdk';

/** A host that keeps what a plugin logs. */
export interface LoggingHost extends DatabaseHost {
  /** Each entry is the text of a message and its fields as JSON. */
  readonly logged: readonly string[];
}

/** A host with the real clock, whose log can be read. */
export function loggingHost(): LoggingHost {
  const logged: string[] = [];
  const log = (message: string, fields?: Readonly<Record<string, unknown>>): void =>
    void logged.push(`${message} ${fields ? JSON.stringify(fields) : ''}`);
  return { log: { debug: log, info: log, warn: log, error: log }, now: () => new Date(), logged };
}
