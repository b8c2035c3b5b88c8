import { setTimeout as delay } from 'node:timers/promises';
import { errors, Pool } from 'undici';
import {
  abortable,
  ConnectionLost,
  DatabaseError,
  driverErrorText,
  isDatabaseError,
  type PoolStatus,
  redact,
  SessionClosed,
  StatementFailed,
} from '@strongroom/database-sdk';
import type { OpensearchSettings } from './settings.ts';

const MAX_CONNECTIONS = 8;
/** The list of all users is the largest answer. */
const LARGEST_ANSWER = 32 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;
/** How long calls under way may take once the session is closed. */
const GRACE_MS = 2_000;
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
  readonly #settings: OpensearchSettings;
  readonly #pool: Pool;
  readonly #authorization: string;
  #underWay = 0;
  /** Settled when the last change that was asked for is through. */
  #writing: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(settings: OpensearchSettings) {
    this.#settings = settings;
    this.#authorization = `Basic ${Buffer.from(`${settings.username}:${settings.password}`).toString('base64')}`;
    this.#pool = new Pool(settings.origin, {
      connections: MAX_CONNECTIONS,
      maxResponseSize: LARGEST_ANSWER,
      connect: { timeout: CONNECT_TIMEOUT_MS, ...settings.tls },
    });
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
    if (this.#closing) throw new SessionClosed();
    signal.throwIfAborted();
    const secrets = { ...this.#settings.secrets, ...(password !== undefined && { 'new password': password }) };
    this.#underWay++;
    try {
      const answer = await this.#pool.request({
        method,
        path: `${this.#settings.prefix}/_plugins/_security${path}`,
        headers: {
          authorization: this.#authorization,
          'user-agent': 'strongroom',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal,
      });
      const read = readAnswer(answer.statusCode, await answer.body.text(), secrets);
      return answer.statusCode === 404 && (method === 'GET' || method === 'DELETE') ? absent(read) : accepted(answer.statusCode, read);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (this.#closing && !(error instanceof DatabaseError)) throw new SessionClosed();
      if (error instanceof DatabaseError) throw error;
      throw new ConnectionLost(redact(`no answer from ${this.#settings.origin}: ${errorText(error)}`, secrets), {
        unsent: isNotConnected(error),
      });
    } finally {
      this.#underWay--;
    }
  }

  pool(): PoolStatus {
    const open = this.#pool.stats.connected;
    const waiting = Math.max(0, this.#underWay - MAX_CONNECTIONS);
    return { open, idle: Math.max(0, open - this.#underWay), waiting, limit: MAX_CONNECTIONS };
  }

  /** Waits for calls under way, but not for a server that does not answer. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const cut = setTimeout(() => void this.#pool.destroy().catch(() => undefined), GRACE_MS).unref();
    await this.#pool.close().catch((error: unknown) => {
      if (!(error instanceof errors.ClientDestroyedError)) throw error;
    });
    clearTimeout(cut);
  }
}

interface Read {
  readonly json: Record<string, unknown> | undefined;
  /** What the server says, redacted. */
  readonly text: string;
}

function readAnswer(status: number, body: string, secrets: Readonly<Record<string, string>>): Read {
  const json = parse(body);
  const said = [json?.['message'], json?.['reason'], json?.['error']].find((text) => typeof text === 'string') as string | undefined;
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

const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

/** No connection was made, so that nothing was sent. */
function isNotConnected(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isNotConnected);
  return NOT_CONNECTED.has(String((error as { code?: unknown } | undefined)?.code));
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed !== null && typeof parsed === 'object' ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function errorText(error: unknown): string {
  return driverErrorText(error, (one) =>
    (one as { code?: unknown } | undefined)?.code === 'ERR_SSL_WRONG_VERSION_NUMBER' ? 'it does not speak TLS there' : undefined,
  );
}
