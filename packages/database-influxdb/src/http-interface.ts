import { errors, Pool } from 'undici';
import {
  ConnectionLost,
  DatabaseError,
  type PoolStatus,
  redact,
  SessionClosed,
  StatementFailed,
  driverErrorText,
} from '@strongroom/database-sdk';
import type { InfluxdbSettings } from './settings.ts';

const MAX_CONNECTIONS = 8;
/** How long statements under way may take once the session is closed. */
const GRACE_MS = 2_000;

interface Answer {
  readonly error?: string;
  readonly results?: readonly { readonly error?: string; readonly series?: readonly { readonly values?: unknown[][] }[] }[];
}

/** The server's `/query`. */
export class HttpInterface {
  readonly #settings: InfluxdbSettings;
  readonly #pool: Pool;
  readonly #authorization: string;
  #underWay = 0;
  #closing: Promise<void> | undefined;

  constructor(settings: InfluxdbSettings) {
    this.#settings = settings;
    this.#authorization = `Basic ${Buffer.from(`${settings.username}:${settings.password}`).toString('base64')}`;
    this.#pool = new Pool(settings.origin, {
      connections: MAX_CONNECTIONS,
      connect: { timeout: settings.connectTimeoutMs, ...settings.tls },
    });
  }

  /**
   * Runs one statement and gives its rows. Statements go in the body, because servers log addresses. Throws StatementFailed for what the server
   * refused, ConnectionLost, SessionClosed, and the reason of `signal`; `password` is masked in all texts, beside those of the connection.
   */
  async query(signal: AbortSignal, statement: string, password?: string): Promise<unknown[][]> {
    if (this.#closing) throw new SessionClosed();
    signal.throwIfAborted();
    const secrets = { ...this.#settings.secrets, ...(password !== undefined && { 'new password': password }) };
    this.#underWay++;
    try {
      const { statusCode, body } = await this.#pool.request({
        method: 'POST',
        path: '/query',
        headers: { authorization: this.#authorization, 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'strongroom' },
        body: new URLSearchParams({ q: statement }).toString(),
        signal,
      });
      return readAnswer(statusCode, await body.text(), secrets);
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

  /** A failure to log in, with where and as whom, unless it says that there was no answer. */
  loginText(error: DatabaseError): string {
    const { origin, username } = this.#settings;
    if (error.code === 'connection_lost') return error.message;
    return `failed to log in to ${origin} as ${username}: ${error.message.replace(/^failed to execute query: /, '')}`;
  }

  pool(): PoolStatus {
    const open = this.#pool.stats.connected;
    const waiting = Math.max(0, this.#underWay - MAX_CONNECTIONS);
    return { open, idle: Math.max(0, open - this.#underWay), waiting, limit: MAX_CONNECTIONS };
  }

  /** Waits for statements under way, but not for a server that does not answer. */
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

function readAnswer(status: number, text: string, secrets: Readonly<Record<string, string>>): unknown[][] {
  const answer = parse(text);
  const refusal = answer?.error ?? answer?.results?.find(({ error }) => error !== undefined)?.error;
  if (refusal !== undefined && status < 500) throw new StatementFailed(redact(refusal, secrets), { serverCode: String(status) });
  if (status !== 200 || !answer?.results)
    throw new ConnectionLost(redact(`the server answered ${status}${refusal === undefined ? '' : `: ${refusal}`}`, secrets));
  return answer.results.flatMap(({ series }) => series ?? []).flatMap(({ values }) => values ?? []);
}

const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

/** No connection was made, so that nothing was sent. */
function isNotConnected(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isNotConnected);
  return NOT_CONNECTED.has(String((error as { code?: unknown } | undefined)?.code));
}

function parse(text: string): Answer | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed !== null && typeof parsed === 'object' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function errorText(error: unknown): string {
  return driverErrorText(error, (one) =>
    (one as { code?: unknown } | undefined)?.code === 'ERR_SSL_WRONG_VERSION_NUMBER' ? 'it does not speak TLS there' : undefined,
  );
}
