import { EngineError, foreignText, Unavailable, withDeadline, type Circuit, type Clock, type Secrets } from '@strongroom/engine-sdk';
import { ApiServerFailed, reasonOf } from './failures.ts';
import type { HttpsPool, PoolAnswer, PoolRequest } from './https-pool.ts';

/** Connections to one API server, and calls that wait for one. More are refused. */
export const LIMITS = { connections: 16, queued: 256 } as const;
/** How long a call may take, with its wait for a connection. */
const CALL_MILLIS = 10_000;

/** Where an API server is, and who vouches for it. */
export interface ApiServerAddress {
  /** With a path where a proxy serves several clusters. */
  readonly url: string;
  /** PEM; undefined for `http`. */
  readonly ca: string | undefined;
}

export interface ApiServerParts {
  readonly clock: Clock;
  /** Of this server. All calls share it. */
  readonly circuit: Pick<Circuit, 'call'>;
}

/** What the API server says of a token. */
export type Review =
  | { readonly result: 'authenticated'; readonly username: string; readonly uid: string; readonly audiences: readonly string[] }
  | { readonly result: 'refused'; readonly reason: string }
  /** It did not accept the token that the review was asked with: 401, or 403 for one that may not ask. */
  | { readonly result: 'asker refused'; readonly status: number; readonly reason: string };

/** The labels of a namespace, or why they are not known. */
export type NamespaceLabels =
  | { readonly result: 'labels'; readonly labels: Readonly<Record<string, string>> }
  | { readonly result: 'unknown' }
  | { readonly result: 'asker refused'; readonly status: number; readonly reason: string };

type Call = Omit<PoolRequest, 'signal'>;

interface Answer {
  readonly status: number;
  /** Undefined if it is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** What the server says of a failure. */
  readonly message: string;
}

/** One Kubernetes API server. All its calls share one pool of connections, one queue and one circuit breaker. */
export class ApiServer {
  readonly #address: ApiServerAddress;
  readonly #parts: ApiServerParts;
  #pool: Promise<HttpsPool> | undefined;
  #underWay = 0;

  constructor(address: ApiServerAddress, parts: ApiServerParts) {
    this.#address = address;
    this.#parts = parts;
  }

  /**
   * Asks whether a token is valid for one of the audiences, with another token, the reviewer's, or with the same.
   * @throws ApiServerFailed, Unavailable, and the reason of the signal
   */
  async review(token: string, audiences: readonly string[], bearer: string, signal: AbortSignal): Promise<Review> {
    const spec = { token, ...(audiences.length === 0 ? {} : { audiences }) };
    const body = JSON.stringify({ kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec });
    const call = { method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', bearer, body } as const;
    const secrets = { token, bearer };
    return this.#call(call, signal, secrets, ({ status, body: answer, message }) => {
      if (status === 401 || status === 403) return { result: 'asker refused', status, reason: message };
      // Of a review, only the audiences can be wrong, which may be the token's own.
      if ((status === 400 || status === 422) && audiences.length > 0) return { result: 'refused', reason: `${status}: ${message}` };
      if (status < 200 || status >= 300) throw unexpected(status, message);
      const review = record(answer?.['status']);
      if (!review) throw unexpected(status, 'the answer has no status of a review');
      return reviewOf(review, secrets);
    });
  }

  /** @throws as `review` */
  async labelsOf(namespace: string, bearer: string, signal: AbortSignal): Promise<NamespaceLabels> {
    const call = { method: 'GET', path: `/api/v1/namespaces/${encodeURIComponent(namespace)}`, bearer } as const;
    return this.#call(call, signal, { bearer }, ({ status, body, message }) => {
      if (status === 401 || status === 403) return { result: 'asker refused', status, reason: message };
      if (status === 404) return { result: 'unknown' };
      if (status !== 200) throw unexpected(status, message);
      const metadata = record(body?.['metadata']);
      if (metadata?.['name'] !== namespace) throw unexpected(status, 'the answer is not that namespace');
      const labels = Object.entries(record(metadata['labels']) ?? {}).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      );
      return { result: 'labels', labels: Object.fromEntries(labels) };
    });
  }

  close(): void {
    void this.#pool?.then((pool) => pool.close());
  }

  /** `secrets` are struck out of what the server says. */
  async #call<T>(call: Call, signal: AbortSignal, secrets: Secrets, read: (answer: Answer) => T): Promise<T> {
    return this.#parts.circuit.call(signal, async () => {
      if (this.#underWay >= LIMITS.connections + LIMITS.queued) {
        const text = `${LIMITS.queued} calls are waiting for the Kubernetes API server already; try again`;
        throw new Unavailable(text, { headers: { 'Retry-After': '1' } });
      }
      this.#underWay += 1;
      try {
        const { status, text } = await this.#send(call, signal);
        const body = parse(text);
        const message = status < 300 ? '' : foreignText(String(body?.['message'] ?? 'no message'), secrets);
        if (status >= 500 || status === 429) throw unexpected(status, message, false);
        if (!body && status < 300) throw unexpected(status, 'the answer is not JSON', false);
        return read({ status, body, message });
      } finally {
        this.#underWay -= 1;
      }
    });
  }

  async #send(call: Call, parent: AbortSignal): Promise<PoolAnswer> {
    const late = new Error(`no answer within ${CALL_MILLIS / 1_000} s`);
    const deadline = { clock: this.#parts.clock, millis: CALL_MILLIS, parent, passed: () => late };
    try {
      return await withDeadline(deadline, async (signal) => {
        const pool = await this.#open();
        return pool.request({ ...call, path: this.#prefix() + call.path, signal });
      });
    } catch (error) {
      if (parent.aborted) throw parent.reason;
      if (error instanceof EngineError) throw error;
      if (error === late) throw new ApiServerFailed('did not answer in time', late.message);
      throw new ApiServerFailed('cannot be reached', reasonOf(error));
    }
  }

  #prefix(): string {
    return new URL(this.#address.url).pathname.replace(/\/$/, '');
  }

  async #open(): Promise<HttpsPool> {
    const { url, ca } = this.#address;
    this.#pool ??= import('./https-pool.ts').then((library) => new library.HttpsPool(new URL(url).origin, ca, LIMITS.connections));
    return this.#pool;
  }
}

function reviewOf(status: Readonly<Record<string, unknown>>, secrets: Secrets): Review {
  const { authenticated, error, audiences } = status;
  const user = record(status['user']);
  const username = user?.['username'];
  const uid = user?.['uid'];
  if (typeof error === 'string' && error !== '') return { result: 'refused', reason: foreignText(error, secrets) };
  if (authenticated !== true || typeof username !== 'string' || typeof uid !== 'string')
    return { result: 'refused', reason: 'not authenticated' };
  return { result: 'authenticated', username, uid, audiences: [audiences].flat().filter((one) => typeof one === 'string') };
}

function unexpected(status: number, message: string, answered = true): ApiServerFailed {
  return new ApiServerFailed('answered with an error', `status ${status}: ${message}`, { answered });
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return record(JSON.parse(text));
  } catch {
    return undefined;
  }
}
