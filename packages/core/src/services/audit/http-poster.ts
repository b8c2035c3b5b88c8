import { randomUUID } from 'node:crypto';
import { Agent as PlainAgent, request as plainRequest, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Clock } from '@strongroom/engine-sdk';
import { readTlsFiles, type HttpAuditOptions } from './http-options.ts';

/** Lines that the receiver did not take, as far as is known: it may have them all the same. */
export class NotDelivered extends Error {
  /** Of the answer; 0 without one. */
  readonly status: number;
  /** Milliseconds for which the receiver wants no more requests. */
  readonly retryAfter: number;

  constructor(message: string, { status = 0, retryAfter = 0, cause }: { status?: number; retryAfter?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** More of an answer than this is not read: only its status counts. */
const MOST_ANSWER = 65_536;
const LONGEST_RETRY_AFTER = 300_000;
const CLOSED = new Error('the device was closed');
/** Of a connection that the other side had closed already. */
const STALE: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);

/** Posts lines to the address of a device. Redirects are not followed, and what answers say is not passed on. */
export class HttpPoster {
  readonly #options: HttpAuditOptions;
  readonly #clock: Clock;
  readonly #underWay = new Set<AbortController>();
  #closed = false;
  #agent: PlainAgent | SecureAgent | undefined;

  constructor(options: HttpAuditOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Resolves when the receiver has answered that it has the lines. The key is the same whenever the same lines are sent again. @throws NotDelivered */
  async post(body: Uint8Array, key: string): Promise<void> {
    const { uri, timeoutMillis } = this.#options;
    const end = new AbortController();
    const cancel = this.#clock.after(timeoutMillis, () => end.abort(new Error(`no answer within ${timeoutMillis / 1_000} seconds`)));
    this.#underWay.add(end);
    if (this.#closed) end.abort(CLOSED);
    try {
      await this.#exchange(body, key, end.signal);
    } catch (error) {
      if (error instanceof NotDelivered) throw error;
      const cause: unknown = end.signal.aborted ? end.signal.reason : error;
      throw new NotDelivered(`cannot deliver to ${uri.origin}: ${(cause as Error).message}`, { cause });
    } finally {
      cancel();
      this.#underWay.delete(end);
    }
  }

  /** Reads certificates and connects again. */
  reopen(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  close(): void {
    this.#closed = true;
    for (const end of this.#underWay) end.abort(CLOSED);
    this.reopen();
  }

  #exchange(body: Uint8Array, key: string, signal: AbortSignal): Promise<void> {
    const { uri, headers } = this.#options;
    const agent = (this.#agent ??= this.#newAgent());
    return new Promise((resolve, reject) => {
      const request = (uri.protocol === 'https:' ? secureRequest : plainRequest)(uri, {
        method: 'POST',
        agent,
        signal,
        headers: {
          ...headers,
          'content-type': 'application/x-ndjson',
          'content-length': body.byteLength,
          'idempotency-key': key,
        },
      });
      request.on('error', reject);
      request.on('response', (answer) => {
        this.#read(answer).then(resolve, reject);
      });
      request.end(body);
    });
  }

  async #read(answer: IncomingMessage): Promise<void> {
    const status = answer.statusCode ?? 0;
    let length = 0;
    for await (const chunk of answer) {
      length += (chunk as Buffer).length;
      if (length > MOST_ANSWER) break;
    }
    if (status >= 200 && status < 300) return;
    const retryAfter = retryAfterOf(answer.headers['retry-after'], this.#clock);
    throw new NotDelivered(`${this.#options.uri.origin} answered with status ${status}`, { status, retryAfter });
  }

  #newAgent(): PlainAgent | SecureAgent {
    const settings = { keepAlive: true, maxSockets: 1, keepAliveMsecs: 30_000 };
    if (this.#options.uri.protocol === 'http:') return new PlainAgent(settings);
    return new SecureAgent({ ...settings, ...readTlsFiles(this.#options.tls), minVersion: 'TLSv1.2' });
  }
}

/** Lines that are kept nowhere. A request whose connection is gone is made once more: the connection may have been an old one. @throws NotDelivered */
export async function postLines(poster: HttpPoster, lines: readonly string[]): Promise<void> {
  const body = Buffer.from(`${lines.join('\n')}\n`);
  const key = randomUUID();
  try {
    await poster.post(body, key);
  } catch (error) {
    if (!STALE.has(((error as Error).cause as NodeJS.ErrnoException | undefined)?.code)) throw error;
    await poster.post(body, key);
  }
}

/** Seconds or a date, in milliseconds from now. */
function retryAfterOf(header: string | undefined, clock: Clock): number {
  if (header === undefined) return 0;
  const millis = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - clock.millis();
  return millis > 0 ? Math.min(millis, LONGEST_RETRY_AFTER) : 0;
}
