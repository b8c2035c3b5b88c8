import type { Connection } from './connection.ts';
import { asCurl, asPolicy, Described } from './describe-request.ts';
import { ApiFailure, EXIT, Failure } from './failure.ts';
import { isRecord, parseJson, printJson } from './json.ts';
import type { JsonRecord } from './json.ts';
import type { Secret } from './secret.ts';
import { readSecret } from './secret.ts';
import { openTransport } from './transport.ts';
import type { StreamedReply, Transport, WireBody, WireReply, WireRequest } from './transport.ts';

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface CallOptions {
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent instead of the caller's own token; an empty text sends none. */
  readonly token?: string;
  /** A look-up on the way to the real request: sent even when the user only wants the request described, and never wrapped. */
  readonly preflight?: boolean;
  /** Never wrapped, whatever the user asked for: the command needs the answer itself. */
  readonly unwrapped?: boolean;
  /** The path is that of something a server named: blanks and slashes count. */
  readonly verbatim?: boolean;
}

export interface ClientOptions {
  readonly connection: Connection;
  readonly token: string | undefined;
  readonly describe: 'curl' | 'policy' | undefined;
  /** Waits between tries; tests pass one that returns at once. */
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/** A path as somebody typed it: no outer slashes. */
function cleanPath(path: string): string {
  return path
    .trim()
    .replace(/^\/+|\/+$/g, '')
    .replace(/\/{2,}/g, '/');
}

/** As it stands in a URL: every byte that would end it escaped. */
function encodePath(path: string): string {
  return encodeURI(path).replace(/[?#]/g, encodeURIComponent);
}

function encodeQuery(query: Query | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const item of typeof value === 'string' ? [value] : (value ?? [])) search.append(name, item);
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

function errorTexts(reply: WireReply): readonly string[] | undefined {
  try {
    const body = parseJson(reply.text);
    if (isRecord(body) && Array.isArray(body['errors'])) return body['errors'].map(String);
  } catch {
    // Not JSON: shown as it is.
  }
  return undefined;
}

function retryAfter({ headers }: WireReply): number | undefined {
  const seconds = Number(headers['retry-after'] ?? NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}

/** A sealed server stays sealed: asking again would only delay the message. */
function worthRetrying(reply: WireReply): boolean {
  if (reply.status === 412 || reply.status === 429) return true;
  return reply.status >= 500 && reply.status !== 501 && !(reply.status === 503 && reply.text.includes('Vault is sealed'));
}

/** Speaks the HTTP API as its other clients do: PUT to write, GET with list=true to list, retries with a growing pause. */
export class ApiClient {
  readonly connection: Connection;
  readonly #options: ClientOptions;
  #transport: Promise<Transport> | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.connection = options.connection;
  }

  get token(): string | undefined {
    return this.#options.token;
  }

  /** The same server with another token. */
  withToken(token: string | undefined): ApiClient {
    const other = new ApiClient({ ...this.#options, token });
    other.#transport = this.#transport ??= openTransport(this.connection);
    return other;
  }

  /** Sends one request. Throws ApiFailure for a status of 400 and above, Failure when no answer comes. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<WireReply> {
    const request = this.#prepare(method, path, options);
    if (options.preflight !== true) {
      if (this.#options.describe === 'curl') throw new Described(asCurl(request, this.connection.skipVerify, this.connection.caCert));
      if (this.#options.describe === 'policy') throw new Described(asPolicy(request));
    }
    const reply = await this.#deliver(request);
    if (reply.status < 400) return reply;
    const described = { method, url: request.url, namespace: this.connection.namespace };
    throw new ApiFailure(described, reply.status, errorTexts(reply), reply.text, retryAfter(reply));
  }

  /** Sends one request, with a body as it comes, and hands on an answer as it comes. Not repeated. Throws as `call` does. */
  async stream(method: string, path: string, body?: WireBody): Promise<StreamedReply> {
    const request = this.#prepare(method, path, { unwrapped: true });
    if (this.#options.describe === 'curl') throw new Described(asCurl(request, this.connection.skipVerify, this.connection.caCert));
    if (this.#options.describe === 'policy') throw new Described(asPolicy(request));
    const transport = await (this.#transport ??= openTransport(this.connection));
    const reply = await transport.stream(request, body);
    if (reply.status < 400) return reply;
    const text = await textOf(reply);
    const failed = { status: reply.status, headers: reply.headers, text };
    throw new ApiFailure({ method, url: request.url, namespace: this.connection.namespace }, reply.status, errorTexts(failed), text);
  }

  /** Sends one request and reads the envelope; undefined for an empty answer and for a 404 that carries nothing. */
  async secret(method: string, path: string, options: CallOptions = {}): Promise<Secret | undefined> {
    try {
      return this.parse((await this.call(method, path, options)).text);
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status !== 404) throw error;
      const found = secretWithin(error);
      if (found === undefined && error.errors.length > 0) throw error;
      return found;
    }
  }

  /** Sends one request and reads a body that has no envelope, such as the seal status. */
  async record(method: string, path: string, options: CallOptions = {}): Promise<JsonRecord> {
    const { text } = await this.call(method, path, options);
    const parsed = text.trim() === '' ? {} : this.#json(text);
    if (!isRecord(parsed)) throw new Failure('The server answered with something other than a JSON object', EXIT.remote);
    return parsed;
  }

  read(path: string, query?: Query): Promise<Secret | undefined> {
    return this.secret('GET', path, query === undefined ? {} : { query });
  }

  list(path: string): Promise<Secret | undefined> {
    return this.secret('GET', path, { query: { list: 'true' } });
  }

  scan(path: string): Promise<Secret | undefined> {
    return this.secret('GET', path, { query: { scan: 'true' } });
  }

  write(path: string, body: unknown): Promise<Secret | undefined> {
    return this.secret('PUT', path, { body });
  }

  patch(path: string, body: unknown): Promise<Secret | undefined> {
    return this.secret('PATCH', path, { body, headers: { 'Content-Type': 'application/merge-patch+json' } });
  }

  delete(path: string, query?: Query): Promise<Secret | undefined> {
    return this.secret('DELETE', path, query === undefined ? {} : { query });
  }

  async close(): Promise<void> {
    (await this.#transport)?.close();
  }

  #prepare(method: string, path: string, options: CallOptions): WireRequest {
    const { connection } = this;
    const token = options.token ?? this.#options.token;
    const body = options.body === undefined ? undefined : printJson(options.body, 0);
    const base = connection.address.startsWith('unix://') ? 'http://localhost' : connection.address;
    return {
      method,
      url: `${base}/v1/${encodePath(options.verbatim === true ? path : cleanPath(path))}${encodeQuery(options.query)}`,
      headers: {
        ...(token === undefined || token === '' ? {} : { 'X-Vault-Token': token }),
        'X-Vault-Request': 'true',
        ...(connection.namespace === '' ? {} : { 'X-Vault-Namespace': `${connection.namespace}/` }),
        ...(connection.wrapTtl === undefined || options.preflight === true || options.unwrapped === true
          ? {}
          : { 'X-Vault-Wrap-TTL': String(Math.ceil(connection.wrapTtl)) }),
        ...connection.headers,
        ...options.headers,
      },
      body,
    };
  }

  async #deliver(first: WireRequest): Promise<WireReply> {
    this.#transport ??= openTransport(this.connection);
    const transport = await this.#transport;
    let request = first;
    let redirected = false;
    for (let attempt = 0; ;) {
      const reply = await transport.send(request);
      const { location } = reply.headers;
      if ([301, 302, 307, 308].includes(reply.status) && location !== undefined && !redirected) {
        const target = new URL(location, request.url);
        if (request.url.startsWith('https:') && target.protocol !== 'https:') {
          throw new Failure(
            `The server redirects from https to ${target.protocol}//${target.host}: refused, as it would show the token`,
            EXIT.remote,
          );
        }
        redirected = true;
        request = { ...request, url: target.href };
        continue;
      }
      if (attempt >= this.connection.retries || !worthRetrying(reply)) return reply;
      await this.#options.sleep(1000 * 2 ** attempt * (1 + Math.random() / 2));
      attempt += 1;
    }
  }

  #json(text: string): unknown {
    try {
      return parseJson(text);
    } catch {
      throw new Failure('The server answered with something other than JSON: is this the right address?', EXIT.remote);
    }
  }

  /** Reads an answer's body as an envelope. Throws a Failure when it is no JSON. */
  parse(text: string): Secret | undefined {
    this.#json(text.trim() === '' ? 'null' : text);
    return readSecret(text);
  }
}

/** A whole body as text. */
export async function textOf({ body }: StreamedReply): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Some 404 answers say something all the same, such as the metadata of a deleted version; undefined for the others. */
export function secretWithin(failure: ApiFailure): Secret | undefined {
  if (!failure.body.includes('"request_id"')) return undefined;
  let found: Secret | undefined;
  try {
    found = readSecret(failure.body);
  } catch {
    return undefined;
  }
  const { data = {}, warnings = [] } = found ?? {};
  return Object.keys(data).length > 0 || warnings.length > 0 ? found : undefined;
}
