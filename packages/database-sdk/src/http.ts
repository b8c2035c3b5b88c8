import type { SecureVersion } from 'node:tls';
import { errors, Pool } from 'undici';
import { redact } from '@strongroom/engine-sdk';
import { driverErrorText } from './driver-error-text.ts';
import { ConnectionLost, DatabaseError, SessionClosed } from './errors.ts';
import type { PemMaterial } from './pem-material.ts';
import type { PoolStatus } from './plugin.ts';

const MAX_CONNECTIONS = 8;
/** How long calls under way may take once the pool is closed. */
const GRACE_MS = 2_000;

/** Whom to trust, and the client's certificate. */
export interface HttpTls extends PemMaterial {
  readonly rejectUnauthorized?: boolean;
  readonly minVersion?: SecureVersion;
  /** Whose certificate to expect, in place of the host's. */
  readonly servername?: string;
}

/** Where a database answers HTTP, and who logs in. */
export interface HttpServer {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly username: string;
  readonly password: string;
  /** Undefined as long as `origin` is `http`. */
  readonly tls: HttpTls | undefined;
  readonly connectTimeoutMs: number;
  /** By name. No error shows them. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Bytes. A larger answer is an error. Default: no limit. */
  readonly largestAnswer?: number;
}

/** One call of the server. */
export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: { readonly type: string; readonly text: string };
  /** A new password in the body, which no error shows. */
  readonly password?: string;
}

/** What a server answered. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** By name: what errors about this answer must mask with `redact`. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Connections to a database that is managed over HTTP with basic authentication: at most 8. */
export class HttpPool {
  readonly #server: HttpServer;
  readonly #pool: Pool;
  readonly #authorization: string;
  #underWay = 0;
  #closing: Promise<void> | undefined;

  /** Connects to nothing yet. */
  constructor(server: HttpServer) {
    this.#server = server;
    this.#authorization = `Basic ${Buffer.from(`${server.username}:${server.password}`).toString('base64')}`;
    this.#pool = new Pool(server.origin, {
      connections: MAX_CONNECTIONS,
      ...(server.largestAnswer !== undefined && { maxResponseSize: server.largestAnswer }),
      connect: { timeout: server.connectTimeoutMs, ...server.tls },
    });
  }

  /**
   * Sends a call, and resolves with what `read` makes of the answer. Throws the DatabaseError that `read` throws; ConnectionLost where there was no answer,
   * or `read` failed otherwise; SessionClosed; and the reason of `signal`.
   */
  async call<T>(signal: AbortSignal, { method, path, body, password }: HttpCall, read: (answer: HttpAnswer) => T): Promise<T> {
    if (this.#closing) throw new SessionClosed();
    signal.throwIfAborted();
    const secrets = { ...this.#server.secrets, ...(password !== undefined && { 'new password': password }) };
    this.#underWay++;
    try {
      const answer = await this.#pool.request({
        method,
        path,
        headers: {
          authorization: this.#authorization,
          'user-agent': 'strongroom',
          ...(body !== undefined && { 'content-type': body.type }),
        },
        ...(body !== undefined && { body: body.text }),
        signal,
      });
      return read({ status: answer.statusCode, text: await answer.body.text(), secrets });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof DatabaseError) throw error;
      if (this.#closing) throw new SessionClosed();
      throw new ConnectionLost(redact(`no answer from ${this.#server.origin}: ${errorText(error)}`, secrets), {
        unsent: isNotConnected(error),
      });
    } finally {
      this.#underWay--;
    }
  }

  /** Connections that are open, and calls that wait for one. */
  status(): PoolStatus {
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

/** The JSON object in a text; undefined where it holds none. */
export function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed !== null && typeof parsed === 'object' ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

/** No connection was made, so that nothing was sent. */
function isNotConnected(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isNotConnected);
  return NOT_CONNECTED.has(codeOf(error));
}

function errorText(error: unknown): string {
  return driverErrorText(error, (one) => (codeOf(one) === 'ERR_SSL_WRONG_VERSION_NUMBER' ? 'it does not speak TLS there' : undefined));
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code);
}
