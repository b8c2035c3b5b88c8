import { retryDelay, type Clock, type Log } from '@strongroom/engine-sdk';
import { CircuitBreakers } from '../../kernel/work/circuit-breaker.ts';
import { BufferFull, pause, type AuditDevice, type BufferStatus } from './audit-device.ts';
import { HEARTBEAT, type BufferFolder, type OwnedBuffer } from './buffer-folder.ts';
import type { BufferOptions } from './http-options.ts';
import { NotDelivered, postLines, type HttpPoster } from './http-poster.ts';
import type { LineBatch } from './line-buffer.ts';

interface Parts {
  readonly folder: BufferFolder;
  readonly poster: HttpPoster;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
}

/** Bytes of a batch, if its lines are no longer. */
const BATCH = 1 << 20;
const BACKOFF = { first: 500, most: 4_000 };
const TARGET = 'receiver';
/** Milliseconds between two looks for what ended processes left. */
const LOOK = 30_000;
/** For which a device that is closed goes on delivering. */
const LAST_DELIVERIES = 3_000;
const TOO_LARGE = 413;

/**
 * Keeps lines on disk until the receiver has them: a write resolves when its lines are there. One batch at a time is delivered, in order and at least once;
 * a batch that is sent again has the same idempotency key. After failures in a row, the circuit breaker lets one try at a time through.
 */
export class BufferedDevice implements AuditDevice {
  readonly #options: BufferOptions;
  readonly #parts: Parts;
  readonly #breakers: CircuitBreakers;
  /** Of ended processes, the oldest first; what they kept goes first. */
  #left: OwnedBuffer[] = [];
  #own: OwnedBuffer | undefined;
  #writes: Promise<unknown> = Promise.resolve();
  #sending: Promise<void> = Promise.resolve();
  /** No more lines are taken. */
  #closing = false;
  /** And none are delivered. */
  #abandoned = false;
  #waiting: { readonly what: 'lines' | 'retry'; end(): void } | undefined;
  #cancelBeat: (() => void) | undefined;
  #looked: number;
  /** Lines of a batch; fewer while the receiver finds batches too large. */
  #lines: number;
  #oldest: string | null = null;
  #deliveredLines = 0;
  #deliveries = 0;
  #failures = 0;
  #inARow = 0;
  #lastError: { message: string; at: Date } | undefined;

  constructor(options: BufferOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#breakers = new CircuitBreakers(parts.clock);
    this.#lines = options.batchLines;
    this.#looked = parts.clock.millis();
  }

  /** @throws where the folder cannot be used */
  async start(): Promise<void> {
    this.#own = await this.#parts.folder.create();
    this.#left = await this.#parts.folder.adopt();
    const bytes = this.#left.reduce((sum, { buffer }) => sum + buffer.bytes, 0);
    if (bytes > 0) this.#parts.log.info('audit lines that were left undelivered are delivered now', { bytes });
    this.#beat();
    this.#sending = this.#deliver();
  }

  write(lines: readonly string[]): Promise<void> {
    const turn = this.#writes.then(async () => this.#keep(Buffer.from(`${lines.join('\n')}\n`)));
    this.#writes = turn.catch(() => undefined);
    return turn;
  }

  async probe(lines: readonly string[]): Promise<void> {
    await postLines(this.#parts.poster, lines);
  }

  buffer(): BufferStatus {
    const bytes = this.#bytes;
    return {
      bytes,
      most_bytes: this.#options.mostBytes,
      oldest: bytes === 0 ? null : this.#oldest,
      delivered_lines: this.#deliveredLines,
      deliveries: this.#deliveries,
      failures: this.#failures,
      last_error: this.#lastError?.message ?? null,
      last_error_time: this.#lastError?.at.toISOString() ?? null,
    };
  }

  /** Connects again, and tries at once. */
  reopen(): Promise<void> {
    this.#parts.poster.reopen();
    this.#breakers.close(TARGET);
    this.#wake('retry');
    return Promise.resolve();
  }

  async close(): Promise<void> {
    if (this.#closing) return this.#sending;
    this.#closing = true;
    await this.#writes;
    this.#wake('all');
    const cancel = this.#parts.clock.after(LAST_DELIVERIES, () => this.#abandon());
    // A receiver that fails already is not waited for.
    if (this.#inARow > 0) this.#abandon();
    await this.#sending;
    cancel();
    this.#abandon();
    this.#cancelBeat?.();
    const { log } = this.#parts;
    if (this.#bytes > 0) log.warn('audit lines stay undelivered in the buffer of a closed device', { bytes: this.#bytes });
    for (const owned of [...this.#left, ...(this.#own ? [this.#own] : [])])
      await owned.leave().catch((error: Error) => log.warn('a buffer of audit lines cannot be closed', { error: error.message }));
    this.#left = [];
    this.#own = undefined;
  }

  get #bytes(): number {
    return [...this.#left, ...(this.#own ? [this.#own] : [])].reduce((sum, { buffer }) => sum + buffer.bytes, 0);
  }

  async #keep(lines: Buffer): Promise<void> {
    if (this.#closing) throw new Error('the device was closed');
    const { mostBytes } = this.#options;
    if (this.#bytes + lines.length > mostBytes)
      throw new BufferFull(`the buffer is full: ${this.#bytes} of ${mostBytes} bytes wait for delivery${this.#because()}`);
    const own = (this.#own ??= await this.#parts.folder.create());
    const kept = await own.buffer.append(lines).then(
      () => undefined,
      (error: Error) => error,
    );
    // Who has taken it over reads what was written before that, and nobody reads what was written since.
    if (await this.#dropIfTaken(own)) throw new Error('the buffer was taken over by another process, or removed', { cause: kept });
    if (kept) throw kept;
    this.#wake('lines');
  }

  #because(): string {
    return this.#lastError ? ` (${this.#lastError.message})` : '';
  }

  /** Never rejects. */
  async #deliver(): Promise<void> {
    while (!this.#abandoned) {
      const owned = await this.#nextBuffer();
      if (!owned || owned.buffer.bytes === 0) {
        if (this.#closing) return;
        await this.#wait('lines', LOOK);
        continue;
      }
      try {
        if (owned === this.#own && this.#inARow === 0) await this.#collect();
        await this.#send(owned);
      } catch (error) {
        if (this.#abandoned) return;
        this.#failed(error as Error);
        if (this.#closing) return;
        await this.#dropIfTaken(owned);
        const asked = error instanceof NotDelivered ? error.retryAfter : 0;
        const backoff = retryDelay(this.#inARow, this.#parts.random ?? Math.random, BACKOFF);
        await this.#wait('retry', Math.max(asked, backoff, this.#breakers.peek(TARGET)));
      }
    }
  }

  /** What ended processes left goes before what comes now. */
  async #nextBuffer(): Promise<OwnedBuffer | undefined> {
    const now = this.#parts.clock.millis();
    if (now - this.#looked >= LOOK || now < this.#looked) {
      this.#looked = now;
      this.#left.push(...(await this.#parts.folder.adopt()));
    }
    while (this.#left[0]?.buffer.bytes === 0)
      await this.#left
        .shift()!
        .leave()
        .catch(() => undefined);
    return this.#left[0] ?? this.#own;
  }

  async #send(owned: OwnedBuffer): Promise<void> {
    const batch = await owned.buffer.next({ lines: this.#lines, bytes: BATCH });
    if (!batch) return;
    this.#oldest = timeOf(batch.bytes);
    this.#breakers.wait(TARGET);
    try {
      await this.#parts.poster.post(batch.bytes, keyOf(owned, batch));
    } catch (error) {
      this.#breakers.failed(TARGET);
      if (error instanceof NotDelivered && error.status === TOO_LARGE && batch.lines > 1) {
        this.#lines = batch.lines >> 1;
        await owned.buffer.shrink();
      }
      throw error;
    }
    this.#breakers.succeeded(TARGET);
    await owned.buffer.delivered(batch);
    this.#deliveries += 1;
    this.#deliveredLines += batch.lines;
    this.#lines = Math.min(this.#options.batchLines, this.#lines * 2);
    if (this.#inARow > 0) this.#parts.log.info('buffered audit lines are delivered again', { bytes: this.#bytes });
    this.#inARow = 0;
    this.#lastError = undefined;
  }

  #failed(error: Error): void {
    if (this.#inARow === 0) this.#parts.log.warn('buffered audit lines cannot be delivered', { error: error.message });
    this.#inARow += 1;
    this.#failures += 1;
    this.#lastError = { message: error.message, at: this.#parts.clock.now() };
  }

  /** A folder that somebody removed, or took over, keeps nobody from delivering the others. */
  async #dropIfTaken(owned: OwnedBuffer): Promise<boolean> {
    if (await owned.isMine()) return false;
    this.#parts.log.error('a folder of undelivered audit lines was taken over or removed', { folder: owned.buffer.folder });
    this.#left = this.#left.filter((other) => other !== owned);
    if (this.#own === owned) this.#own = undefined;
    await owned.buffer.close();
    return true;
  }

  /** Lines of a short time go together, unless there are many. */
  async #collect(): Promise<void> {
    const until = this.#parts.clock.millis() + this.#options.flushMillis;
    for (let left = this.#options.flushMillis; left > 0 && left <= this.#options.flushMillis; left = until - this.#parts.clock.millis()) {
      if (this.#closing || this.#bytes >= BATCH) return;
      await this.#wait('lines', left);
    }
  }

  /** Until the time is over, or what is waited for happens: lines that come, or a reason to try again. */
  async #wait(what: 'lines' | 'retry', millis: number): Promise<void> {
    if (this.#closing) return;
    const until = new AbortController();
    this.#waiting = { what, end: () => until.abort() };
    await pause(this.#parts.clock, millis, until.signal);
    this.#waiting = undefined;
  }

  #wake(what: 'lines' | 'retry' | 'all'): void {
    if (this.#waiting && (what === 'all' || this.#waiting.what === what)) this.#waiting.end();
  }

  #abandon(): void {
    this.#abandoned = true;
    this.#wake('all');
    this.#parts.poster.close();
  }

  #beat(): void {
    this.#cancelBeat = this.#parts.clock.after(HEARTBEAT, () => {
      for (const owned of [...this.#left, ...(this.#own ? [this.#own] : [])]) void owned.beat();
      this.#beat();
    });
  }
}

/** The same for the same lines, also after a restart and in another process; of no others. */
function keyOf({ id }: OwnedBuffer, { segment, from, to }: LineBatch): string {
  return `${id}-${segment}-${from}-${to}`;
}

/** When the first line was written, as it says itself. */
function timeOf(lines: Buffer): string | null {
  return /"time":"([^"]{1,40})"/.exec(lines.subarray(0, 65_536).toString())?.[1] ?? null;
}
