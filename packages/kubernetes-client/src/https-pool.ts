import { Pool } from 'undici';

/** Bytes of an answer: far more than any object has that is asked for. Lists are asked for by pages. */
const LONGEST_ANSWER = 1_048_576;
const CONNECT_MILLIS = 5_000;

/** A request with its deadline. */
export interface PoolRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly bearer: string;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** An answer, read whole. */
export interface PoolAnswer {
  readonly status: number;
  readonly text: string;
}

/** Kept connections to one API server. Redirects are answers like others. */
export class HttpsPool {
  readonly #pool: Pool;

  /** `ca`: PEM of the only CAs to trust; undefined for those of the system. */
  constructor(origin: string, ca: string | undefined, connections: number) {
    this.#pool = new Pool(origin, {
      connections,
      // The caller's signal is the deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: LONGEST_ANSWER,
      connect: { timeout: CONNECT_MILLIS, ...(ca === undefined ? {} : { ca }) },
    });
  }

  async request({ method, path, bearer, body, signal }: PoolRequest): Promise<PoolAnswer> {
    const headers = { accept: 'application/json', authorization: `Bearer ${bearer}`, 'user-agent': 'strongroom' };
    const answer = await this.#pool.request({
      method,
      path,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
      signal,
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  /** Ends what is under way. */
  close(): void {
    this.#pool.destroy().catch(() => undefined);
  }
}
