import type { Outcome, Output } from './history.ts';

/** Milliseconds after which a call without an answer is given up: its effect is not known. */
const PATIENCE = 5_000;
/** Codes of `fetch` for a request that never left. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT']);

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ClientCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Without `/v1/`. */
  readonly path: string;
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One node of the servers under test. */
export class NodeClient {
  readonly #address: string;
  /** Why the effects of calls are unknown, and of how many. */
  readonly doubts = new Map<string, number>();

  constructor(address: string) {
    this.#address = address;
  }

  /** @throws Error where there is no answer, or one that refuses: for what prepares a run */
  async must(call: ClientCall): Promise<Answer['body']> {
    const { status, body } = await this.#send(call);
    if (status >= 300) throw new Error(`${call.method} ${call.path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /**
   * A 2xx took effect and a 4xx is a refusal: `told` says what that means. A request that never left, and one that a sealed or overloaded node turned down, had
   * no effect; a refusal by a cap on leases is one that counts. Everything else may have had an effect, and may still.
   */
  async outcome(call: ClientCall, told: (answer: Answer) => Output): Promise<Outcome> {
    let answer: Answer;
    try {
      answer = await this.#send(call);
    } catch (error) {
      const code = (error as { cause?: { code?: unknown } }).cause?.code;
      if (typeof code === 'string' && NEVER_SENT.has(code)) return 'no effect';
      return this.#doubt(typeof code === 'string' ? code : (error as Error).name);
    }
    const { status, body } = answer;
    if ((status === 429 && !says(body, 'lease count quota')) || (status === 503 && says(body, 'sealed'))) return 'no effect';
    return status < 500 ? told(answer) : this.#doubt(`${status} ${JSON.stringify(body['errors'])}`);
  }

  #doubt(reason: string): 'unknown' {
    this.doubts.set(reason, (this.doubts.get(reason) ?? 0) + 1);
    return 'unknown';
  }

  async #send({ method, path, token, body, headers }: ClientCall): Promise<Answer> {
    const response = await fetch(`${this.#address}/v1/${path}`, {
      method,
      headers: { ...headers, ...(token === undefined ? {} : { 'X-Vault-Token': token }) },
      signal: AbortSignal.timeout(PATIENCE),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
  }
}

function says(body: Answer['body'], text: string): boolean {
  const { errors } = body;
  return Array.isArray(errors) && errors.some((error) => String(error).includes(text));
}
