import { EngineError, Unavailable, type Clock, type StreamedBody } from '@strongroom/engine-sdk';
import { StorageFailure } from '@strongroom/storage-sdk';
import { BarrierSealed } from '../../kernel/barrier/barrier.ts';
import type { TokenAccess } from '../caller/token-access.ts';
import type { LogLevel } from '../settings/log-levels.ts';
import { LineQueue, type FollowedLog, type LineFormat } from './log-lines.ts';

/** Streams of one server. */
const MOST = 20;
/** Milliseconds between two looks at the token. */
const LOOK = 5_000;

/** A caller who wants to follow the log. */
export interface LogReader {
  readonly token: string;
  readonly remoteAddress: string;
  /** The path that must stay readable. */
  readonly path: string;
  readonly level: LogLevel;
  readonly format: LineFormat;
}

interface Parts {
  readonly clock: Clock;
  readonly access: Pick<TokenAccess, 'aclOfToken'>;
  readonly log: FollowedLog;
}

/** The lines of the log as they are written. A stream ends with its token, and when the policies take the path away. */
export class LogStreams {
  readonly #parts: Parts;
  #open = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws Unavailable where there is no room for another stream */
  open(reader: LogReader): StreamedBody {
    if (this.#open >= MOST)
      throw new Unavailable(`${MOST} callers follow the log of this server, which is as many as may`, { headers: { 'Retry-After': '15' } });
    const contentType = reader.format === 'json' ? 'application/json' : 'text/plain; charset=utf-8';
    return { contentType, open: (signal) => this.#lines(reader, signal) };
  }

  async *#lines(reader: LogReader, signal: AbortSignal): AsyncGenerator<string> {
    const { clock, log } = this.#parts;
    const queue = new LineQueue();
    const wake = (): void => queue.wake();
    let due = false;
    let cancel = (): void => undefined;
    const look = (): void => {
      cancel = clock.after(LOOK, () => {
        due = true;
        wake();
        look();
      });
    };
    this.#open += 1;
    const unfollow = log.follow(reader, queue.add);
    signal.addEventListener('abort', wake, { once: true });
    look();
    try {
      while (!signal.aborted) {
        const { text, dropped } = queue.take();
        if (text !== '') yield text;
        if (dropped > 0) yield notice(reader.format, clock.now(), `${dropped} lines were dropped, because they were not taken fast enough`);
        if (due && !(await this.#mayGoOn(reader))) {
          yield notice(reader.format, clock.now(), 'the stream ends: the token may not read it any more');
          return;
        }
        due = false;
        if (!signal.aborted) await queue.wait();
      }
    } finally {
      this.#open -= 1;
      unfollow();
      cancel();
      signal.removeEventListener('abort', wake);
    }
  }

  async #mayGoOn({ token, remoteAddress, path }: LogReader): Promise<boolean> {
    try {
      const acl = await this.#parts.access.aclOfToken(token, remoteAddress);
      return acl?.check({ operation: 'read', path }).allowed ?? false;
    } catch (error) {
      if (error instanceof EngineError || error instanceof StorageFailure || error instanceof BarrierSealed) return false;
      throw error;
    }
  }
}

/** A line about the stream, in the form of the others. */
function notice(format: LineFormat, now: Date, text: string): string {
  const time = now.toISOString();
  return format === 'json' ? `${JSON.stringify({ level: 40, time, msg: text })}\n` : `${time} [WARN]  ${text}\n`;
}
