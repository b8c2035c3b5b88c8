import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '@strongroom/engine-sdk';
import pino, { type Logger } from 'pino';
import type { LogFormat, LogLevel } from './log-level.ts';
import { LogFileFailed } from '../failures.ts';
import { printable, standardLine } from './line-format.ts';
import { redactFields, redactText } from './redaction.ts';

export interface ServerLogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Appended to; standard error without it. */
  readonly file?: string;
  /** In place of the file: where lines go, each with its newline. */
  readonly write?: (line: string) => void;
}

/** The server's log: pino with secrets masked, as JSON or as lines that people read. */
export class ServerLog implements Log {
  readonly #logger: Logger;
  readonly #format: LogFormat;
  readonly #file: string | undefined;
  readonly #write: ((line: string) => void) | undefined;
  #descriptor = 2;

  /** @throws LogFileFailed */
  constructor(options: ServerLogOptions) {
    this.#format = options.format;
    this.#file = options.file;
    this.#write = options.write;
    this.reopen();
    this.#logger = pino(
      { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
      { write: (json: string) => this.#put(json) },
    );
  }

  get level(): LogLevel {
    return this.#logger.level as LogLevel;
  }

  set level(level: LogLevel) {
    this.#logger.level = level;
  }

  trace(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say('trace', message, fields);
  }
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say('debug', message, fields);
  }
  info(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say('info', message, fields);
  }
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say('warn', message, fields);
  }
  error(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say('error', message, fields);
  }

  /** Opens the file anew: after log rotation. @throws LogFileFailed; the old one stays in use */
  reopen(): void {
    if (this.#file === undefined || this.#write) return;
    let opened: number;
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      opened = openSync(this.#file, 'a', 0o600);
    } catch (error) {
      throw new LogFileFailed(`log_file ${this.#file} cannot be opened: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`);
    }
    const before = this.#descriptor;
    this.#descriptor = opened;
    if (before > 2) closeSync(before);
  }

  close(): void {
    if (this.#descriptor > 2) closeSync(this.#descriptor);
    this.#descriptor = 2;
  }

  #say(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void {
    if (!this.#logger.isLevelEnabled(level)) return;
    const text = redactText(message);
    if (fields) this.#logger[level](safeFields(fields), text);
    else this.#logger[level](text);
  }

  /** A log that cannot be written stops nothing. */
  #put(json: string): void {
    const line = this.#format === 'json' ? `${printable(json.slice(0, -1))}\n` : standardLine(json);
    try {
      if (this.#write) this.#write(line);
      else writeSync(this.#descriptor, line);
    } catch {
      // Nowhere is left to say it.
    }
  }
}

/** Fields under the names that pino's own take would hide them. */
function safeFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const safe = redactFields(fields);
  for (const name of ['level', 'time', 'msg']) {
    if (!Object.hasOwn(safe, name)) continue;
    safe[`${name}_`] = safe[name];
    delete safe[name];
  }
  return safe;
}
