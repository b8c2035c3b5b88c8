import { EngineError, foreignText, Unavailable, withDeadline, type Circuit, type Clock, type Secrets } from '@strongroom/engine-sdk';
import { ApiServerFailed, reasonOf } from './api-server-failed.ts';
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

/** What calls to an API server share. */
export interface ApiServerParts {
  readonly clock: Clock;
  /** Of this server. All calls share it. */
  readonly circuit: Pick<Circuit, 'call'>;
}

/** One call, before its deadline. */
export type ApiCall = Omit<PoolRequest, 'signal'>;

/** What the server answered, be it a success or a refusal. */
export interface ApiAnswer {
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
   * Makes a call. What `read` throws counts as a failure of the server where it is an `ApiServerFailed` without an answer; `secrets` are struck out of what the
   * server says. @throws ApiServerFailed, Unavailable, the reason of the signal, and what `read` throws
   */
  async call<T>(call: ApiCall, signal: AbortSignal, secrets: Secrets, read: (answer: ApiAnswer) => T): Promise<T> {
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
        if (status >= 500 || status === 429) throw unexpectedAnswer(status, message, false);
        if (!body && status < 300) throw unexpectedAnswer(status, 'the answer is not JSON', false);
        return read({ status, body, message });
      } finally {
        this.#underWay -= 1;
      }
    });
  }

  close(): void {
    void this.#pool?.then((pool) => pool.close());
  }

  async #send(call: ApiCall, parent: AbortSignal): Promise<PoolAnswer> {
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

/** An answer that fits no case: `answered` for one that shows that the server works. */
export function unexpectedAnswer(status: number, message: string, answered = true): ApiServerFailed {
  return new ApiServerFailed('answered with an error', `status ${status}: ${message}`, { answered });
}

/** Undefined if it is no JSON object. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}
