import type { Log } from '@strongroom/engine-sdk';

/** One line of a log, as it was written. */
export interface LogLine {
  readonly level: keyof Log;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that keeps its lines, for tests that look at them. */
export interface KeptLog {
  readonly log: Log;
  /** Grows as lines are written. */
  readonly lines: LogLine[];
}

/** A log to give to a core or a mount, with the lines that it gets. */
export function keptLog(): KeptLog {
  const lines: LogLine[] = [];
  const keep =
    (level: LogLine['level']) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      void lines.push({ level, message, fields });
  return { log: { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }, lines };
}
