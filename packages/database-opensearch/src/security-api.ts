import { setTimeout as delay } from 'node:timers/promises';
import { abortable, ConnectionLost, isDatabaseError, type PoolStatus, redact, StatementFailed } from '@strongroom/database-sdk';
import { type HttpAnswer, HttpPool, jsonObject } from '@strongroom/database-sdk/http';
import type { OpensearchSettings } from './settings.ts';

/** The list of all users is the largest answer. */
const LARGEST_ANSWER = 32 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;
const WRITE_ATTEMPTS = 8;
const CONFLICT_DELAY_MS = 200;

const quiet = (): void => undefined;

/** One call of the server. `path` is below `/_plugins/_security`. */
export interface SecurityCall {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** A new password in the body, which no error shows. */
  readonly password?: string;
}

/** The REST API of the server's security plugin. */
export class SecurityApi {
  readonly #prefix: string;
  readonly #http: HttpPool;
  /** Settled when the last change that was asked for is through. */
  #writing: Promise<void> = Promise.resolve();

  constructor(settings: OpensearchSettings) {
    this.#prefix = settings.prefix;
    this.#http = new HttpPool({ ...settings, connectTimeoutMs: CONNECT_TIMEOUT_MS, largestAnswer: LARGEST_ANSWER });
  }

  /**
   * The answer of a call; undefined if the object is not there (404 to GET and DELETE). Throws StatementFailed with the status as its code for what the
   * server refused, ConnectionLost, SessionClosed, and the reason of `signal`.
   */
  async call(signal: AbortSignal, call: SecurityCall): Promise<unknown> {
    if (call.method === 'GET') return this.#once(signal, call);
    const before = this.#writing;
    const writing = this.#write(signal, before, call);
    this.#writing = writing.then(quiet, quiet);
    return writing;
  }

  /** One change at a time, because the server keeps all users in one document and refuses changes at the same time; those of other clients are waited for. */
  async #write(signal: AbortSignal, before: Promise<void>, call: SecurityCall): Promise<unknown> {
    await abortable(signal, before);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(signal, call);
      } catch (error) {
        if (attempt === WRITE_ATTEMPTS || !isConflict(error)) throw error;
        await abortable(signal, delay(Math.random() * CONFLICT_DELAY_MS * attempt));
      }
    }
  }

  async #once(signal: AbortSignal, { method, path, body, password }: SecurityCall): Promise<unknown> {
    const call = {
      method,
      path: `${this.#prefix}/_plugins/_security${path}`,
      ...(body !== undefined && { body: { type: 'application/json', text: JSON.stringify(body) } }),
      ...(password !== undefined && { password }),
    };
    return this.#http.call(signal, call, (answer) => {
      const read = readAnswer(answer);
      return answer.status === 404 && (method === 'GET' || method === 'DELETE') ? absent(read) : accepted(answer.status, read);
    });
  }

  pool(): PoolStatus {
    return this.#http.status();
  }

  /** Waits for calls under way, but not for a server that does not answer. */
  close(): Promise<void> {
    return this.#http.close();
  }
}

interface Read {
  readonly json: Record<string, unknown> | undefined;
  /** What the server says, redacted. */
  readonly text: string;
}

function readAnswer({ status, text, secrets }: HttpAnswer): Read {
  const json = jsonObject(text);
  const said = [json?.['message'], json?.['reason'], json?.['error']].find((one) => typeof one === 'string') as string | undefined;
  const keys = json?.['invalid_keys'];
  const detail = keys === undefined ? '' : ` ${JSON.stringify(keys)}`;
  return { json, text: redact(`${said ?? `the server answered ${status}`}${detail}`, secrets) };
}

function accepted(status: number, { json, text }: Read): unknown {
  if (status >= 200 && status < 300 && json) return json;
  if (status >= 400 && status < 500 && status !== 429)
    throw new StatementFailed(`${text}${hint(status, text)}`, { serverCode: String(status) });
  throw new ConnectionLost(json ? text : `the server answered ${status}, and not as OpenSearch does`);
}

/** Another client changed users at the same time, so that nothing was done. */
function isConflict(error: unknown): boolean {
  return isDatabaseError(error, 'statement_failed') && (error as StatementFailed).serverCode === '409';
}

/** A 404 means that the object is not there only if the security plugin says so: a proxy can answer 404, too. */
function absent({ json, text }: Read): undefined {
  if (json?.['status'] === 'NOT_FOUND') return undefined;
  throw new StatementFailed(`${text}: is the security plugin of OpenSearch installed, and is url right?`, { serverCode: '404' });
}

function hint(status: number, text: string): string {
  if (/weak password|password is similar/i.test(text))
    return ': the server demands stronger passwords, so set a password_policy on the connection';
  if (status === 403 && /is reserved/.test(text)) return ' OpenSearch lets nobody change a reserved user: use another user';
  return '';
}
