import type { CoreResponse } from '../../../src/index.ts';

/** An event as it stands in the stream. */
export interface Received {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Takes an open stream apart, as far as it has come. */
export class StreamReader {
  readonly #parts: AsyncIterator<string | Uint8Array>;
  readonly #over = new AbortController();
  readonly #received: Received[] = [];
  readonly #waiting: (() => void)[] = [];
  /** Comments, such as pings. */
  readonly comments: string[] = [];
  lastId = '';
  ended = false;

  constructor({ stream, errors }: CoreResponse) {
    if (!stream) throw new Error(`no stream: ${String(errors)}`);
    this.#parts = stream.open(this.#over.signal)[Symbol.asyncIterator]();
    void this.#read();
  }

  /** The next event; those of the server itself are left out unless asked for. */
  async next(): Promise<Received> {
    for (;;) {
      const received = this.#received.shift();
      if (received) return received;
      if (this.ended) throw new Error('the stream has ended');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** What has come so far, once everything that is under way has had its turns. */
  async all(): Promise<Received[]> {
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return this.#received.splice(0);
  }

  /** The caller leaves. */
  leave(): void {
    this.#over.abort(new Error('the caller went away'));
  }

  async #read(): Promise<void> {
    let text = '';
    for (;;) {
      const part = await this.#parts.next();
      if (part.done) break;
      const { value } = part;
      text += typeof value === 'string' ? value : Buffer.from(value).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) this.#take(block);
      for (const wake of this.#waiting.splice(0)) wake();
    }
    this.ended = true;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #take(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) this.comments.push(line.slice(1).trim());
      else fields.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2));
    }
    const id = fields.get('id');
    if (id !== undefined) this.lastId = id;
    const data = fields.get('data');
    if (data !== undefined) this.#received.push({ id, event: fields.get('event')!, data: JSON.parse(data) as Record<string, unknown> });
  }
}
