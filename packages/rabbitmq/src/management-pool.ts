import type { SecureVersion } from 'node:tls';
import { Pool } from 'undici';

const CONNECT_MILLIS = 5_000;

/** How HTTPS is spoken. */
export interface PoolTls {
  /** PEM of the only CAs to trust; absent for those of the system. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized: boolean;
  readonly minVersion: SecureVersion;
}

export interface PoolOptions {
  readonly connections: number;
  /** Bytes of an answer; one that is longer fails. */
  readonly longestAnswer: number;
  readonly tls: PoolTls | undefined;
}

export interface PoolRequest {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly authorization: string;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface PoolAnswer {
  readonly status: number;
  readonly text: string;
}

/** Kept connections to the management API. Redirects are answers like others. */
export class ManagementPool {
  readonly #pool: Pool;

  constructor(origin: string, { connections, longestAnswer, tls }: PoolOptions) {
    this.#pool = new Pool(origin, {
      connections,
      // The caller's signal is the deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: longestAnswer,
      connect: { timeout: CONNECT_MILLIS, ...tls },
    });
  }

  async request({ method, path, authorization, body, signal }: PoolRequest): Promise<PoolAnswer> {
    const headers = { accept: 'application/json', authorization, 'user-agent': 'strongroom' };
    const answer = await this.#pool.request({
      method,
      path,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
      signal,
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  get open(): number {
    return this.#pool.stats.connected;
  }

  /** Ends what is under way. */
  close(): void {
    this.#pool.destroy().catch(() => undefined);
  }
}
