import type { ServerResponse } from 'node:http';
import { AnswerQueue } from './answer-queue.ts';
import type { CoreResponse } from './core-types.ts';
import { envelopeOf, errorsBody } from './envelope.ts';

const JSON_TYPE = 'application/json';
/** Milliseconds for which the rest of an unwelcome body is read, so that the answer is not lost in a reset connection. */
const LINGER = 2_000;

/** Puts answers on the wire, each with one write. */
export class AnswerWriter {
  readonly #queue = new AnswerQueue();
  readonly #fixed: readonly string[];
  /** For answers that say themselves how long they may be kept. */
  readonly #keepable: readonly string[];

  /** `headers` are sent with every answer. @throws TypeError for a name or a value that HTTP cannot carry */
  constructor(headers: Readonly<Record<string, string>> = {}) {
    this.#keepable = ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains', ...Object.entries(headers).flat()];
    this.#fixed = ['Cache-Control', 'no-store', ...this.#keepable];
  }

  answer(response: ServerResponse, answer: CoreResponse, extra?: readonly string[]): void {
    const { raw, headers } = answer;
    const more = headers ? [...(extra ?? []), ...Object.entries(headers).flat()] : extra;
    if (raw) this.send(response, answer.status, raw.contentType, raw.body, more);
    else if (answer.status === 204) this.send(response, 204, JSON_TYPE, '', more);
    else this.send(response, answer.status, JSON_TYPE, envelopeOf(answer), more);
  }

  /** The head of an answer whose body is sent as it comes about. Proxies are asked to pass on what they get at once. */
  head(response: ServerResponse, { status, headers, stream }: CoreResponse, extra: readonly string[] = []): void {
    const own = Object.entries(headers ?? {}).flat();
    const type = ['Content-Type', stream!.contentType, 'X-Accel-Buffering', 'no'];
    response.writeHead(status, [...this.#fixed, ...type, ...extra, ...own]);
  }

  errors(response: ServerResponse, status: number, errors: readonly string[], extra?: readonly string[]): void {
    this.send(response, status, JSON_TYPE, errorsBody(errors), extra);
  }

  send(response: ServerResponse, status: number, contentType: string, body: string | Uint8Array, extra?: readonly string[]): void {
    const headers = [...(extra?.includes('Cache-Control') ? this.#keepable : this.#fixed), 'Content-Type', contentType];
    if (status !== 204 && status !== 304)
      headers.push('Content-Length', String(typeof body === 'string' ? Buffer.byteLength(body) : body.length));
    if (extra) headers.push(...extra);
    response.writeHead(status, headers);
    this.#queue.add(response, body);
  }

  /** 304: what the caller has is still true. `headers` are those of the answer that it has. */
  unchanged(response: ServerResponse, headers: readonly string[]): void {
    response.writeHead(304, [...this.#keepable, ...headers]);
    response.end();
  }

  /** A refusal of a request that is not read to its end. */
  refusing(response: ServerResponse, status: number, errors: readonly string[], extra: readonly string[] = []): void {
    this.#close(response, status, errorsBody(errors), extra);
  }

  /** The answer to a request whose body may not have been read to its end. */
  closing(response: ServerResponse, answer: CoreResponse, extra: readonly string[] = []): void {
    const more = [...extra, ...Object.entries(answer.headers ?? {}).flat()];
    this.#close(response, answer.status, answer.status === 204 ? '' : envelopeOf(answer), more);
  }

  /** Says that the connection ends, and ends it when the caller had time to read. */
  #close(response: ServerResponse, status: number, body: string, extra: readonly string[]): void {
    const length = String(Buffer.byteLength(body));
    const sized = status === 204 ? [] : ['Content-Length', length];
    response.writeHead(status, [...this.#fixed, 'Content-Type', JSON_TYPE, ...sized, 'Connection', 'close', ...extra]);
    response.write(body);
    if (response.req.readableEnded) {
      response.end();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      response.end();
    };
    const timer = setTimeout(end, LINGER);
    response.once('close', () => clearTimeout(timer));
    response.req.once('end', end);
    response.req.on('error', end);
    response.req.resume();
  }
}
