import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { FollowedLog, Loggers, LogLevelStore } from '@strongroom/core';
import type { Log } from '@strongroom/engine-sdk';
import pino, { type Logger } from 'pino';
import type { LogFormat, LogLevel } from './log-level.ts';
import { LogFileFailed } from '../failures.ts';
import { printable, standardLine } from './line-format.ts';
import { redactFields, redactText } from './redaction.ts';

/** The names of `sys/loggers` that every server has; each mount has one more. */
const PARTS = ['core', 'audit', 'expiration', 'storage', 'http'];

type Watcher = Logger;

export interface ServerLogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Appended to; standard error without it. */
  readonly file?: string;
  /** Which worker writes, in each line; absent: the server is one process. */
  readonly worker?: number;
  /** In place of the file: where lines go, each with its newline. */
  readonly write?: (line: string) => void;
}

/** The server's log: pino with secrets masked, as JSON or as lines that people read. */
export class ServerLog implements Log, Loggers, LogLevelStore, FollowedLog {
  readonly #logger: Logger;
  readonly #format: LogFormat;
  /** In each line. */
  readonly #base: { readonly worker: number } | null;
  readonly #file: string | undefined;
  readonly #write: ((line: string) => void) | undefined;
  #configured: LogLevel;
  /** By name; '' is this log itself. */
  readonly #named = new Map<string, Logger>();
  readonly #watchers = new Set<Watcher>();
  #descriptor = 2;

  /** @throws LogFileFailed */
  constructor(options: ServerLogOptions) {
    this.#format = options.format;
    this.#base = options.worker === undefined ? null : { worker: options.worker };
    this.#file = options.file;
    this.#write = options.write;
    this.reopen();
    this.#logger = pino(
      { level: options.level, base: this.#base, timestamp: pino.stdTimeFunctions.isoTime },
      { write: (json: string) => this.#put(json) },
    );
    this.#configured = options.level;
    for (const name of PARTS) this.named(name);
  }

  get level(): LogLevel {
    return this.#logger.level as LogLevel;
  }

  /** What is configured, for every logger. */
  set level(level: LogLevel) {
    this.#configured = level;
    this.set(level);
  }

  named(name: string): Log {
    if (!this.#named.has(name)) this.#named.set(name, this.#logger.child({}));
    const say =
      (level: LogLevel) =>
      (message: string, fields?: Readonly<Record<string, unknown>>): void =>
        this.#say(this.#named.get(name) ?? this.#logger, level, message, fields);
    return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  }

  forget(name: string): void {
    this.#named.delete(name);
  }

  list(): ReadonlyMap<string, LogLevel> {
    return new Map([...this.#named].map(([name, logger]) => [name, logger.level as LogLevel]));
  }

  set(level: LogLevel, name?: string): void {
    if (name === undefined) for (const logger of [this.#logger, ...this.#named.values()]) logger.level = level;
    else if (this.#named.has(name)) this.#named.get(name)!.level = level;
  }

  reset(name?: string): void {
    this.set(this.#configured, name);
  }

  follow({ level, format }: { readonly level: LogLevel; readonly format: LogFormat }, add: (line: string) => void): () => void {
    const write = (json: string): void => add(lineOf(json, format));
    const watcher: Watcher = pino({ level, base: this.#base, timestamp: pino.stdTimeFunctions.isoTime }, { write });
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  trace(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say(this.#logger, 'trace', message, fields);
  }
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say(this.#logger, 'debug', message, fields);
  }
  info(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say(this.#logger, 'info', message, fields);
  }
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say(this.#logger, 'warn', message, fields);
  }
  error(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#say(this.#logger, 'error', message, fields);
  }

  /** Reopens the file: after log rotation. @throws LogFileFailed; the old one stays in use */
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

  #say(logger: Logger, level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void {
    if (this.#watchers.size === 0 && !logger.isLevelEnabled(level)) return;
    const text = redactText(message);
    const safe = fields && safeFields(fields);
    for (const each of [logger, ...this.#watchers]) {
      if (safe) each[level](safe, text);
      else each[level](text);
    }
  }

  /** A log that cannot be written stops nothing. */
  #put(json: string): void {
    const line = lineOf(json, this.#format);
    try {
      if (this.#write) this.#write(line);
      else writeSync(this.#descriptor, line);
    } catch {
      // Nowhere is left to say it.
    }
  }
}

function lineOf(json: string, format: LogFormat): string {
  return format === 'json' ? `${printable(json.slice(0, -1))}\n` : standardLine(json);
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
