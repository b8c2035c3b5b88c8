import { jsonCall, type JsonAnswer, type NetworkGuard } from '@strongroom/sync-sdk';
import type { VaultConnection } from './connection.ts';
import { VaultRefusal } from './vault-refusal.ts';

/** One call below `/v1/`. */
export interface VaultCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Encoded, with its query. */
  readonly path: string;
  /** JSON, as it is sent. */
  readonly body?: string;
  /** Absent: the call needs none. */
  readonly token?: string;
  /** Asked of the whole server: in no namespace. */
  readonly ofServer?: boolean;
}

/** Calls of a server's `/v1` API. */
export class VaultApi {
  readonly #connection: VaultConnection;
  readonly #network: NetworkGuard;

  constructor(connection: VaultConnection, network: NetworkGuard) {
    this.#connection = connection;
    this.#network = network;
  }

  /** Resolves with any answer. Rejects with what the socket says. */
  async ask({ method, path, body, token, ofServer }: VaultCall, signal: AbortSignal): Promise<JsonAnswer> {
    const { address, namespace, tls_ca: ca, tls_server_name: serverName } = this.#connection;
    const headers = {
      'x-vault-request': 'true',
      ...(namespace && !ofServer ? { 'x-vault-namespace': namespace } : {}),
      ...(token === undefined ? {} : { 'x-vault-token': token }),
    };
    return await jsonCall(
      this.#network,
      {
        ...{ method, headers, serverName: serverName || undefined },
        url: `${address.replace(/\/+$/, '')}/v1/${path}`,
        ca: ca?.trim() || undefined,
        ...(body === undefined ? {} : { body: { type: 'application/json', text: body } }),
      },
      signal,
    );
  }

  /** Resolves with a success alone. @throws VaultRefusal, and what the socket says */
  async call(call: VaultCall, signal: AbortSignal): Promise<JsonAnswer> {
    const answer = await this.ask(call, signal);
    if (answer.status < 200 || answer.status >= 300) throw new VaultRefusal(answer);
    return answer;
  }
}

/** A path with each part encoded. */
export function encodedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** `data` of an answer; empty where it has none. */
export function dataOf({ body }: JsonAnswer): Readonly<Record<string, unknown>> {
  return objectIn(body, 'data');
}

/** An object in another one; empty where there is none. */
export function objectIn(from: Readonly<Record<string, unknown>> | undefined, name: string): Readonly<Record<string, unknown>> {
  const value = from?.[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
