import { createServer as createPlainServer, type IncomingMessage, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { CallLog, type Fault, type RecordedCall } from './faults.ts';
import type { ServerCertificate } from './test-ca.ts';

export interface ProviderRequest {
  readonly method: string;
  /** The path, still percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface ProviderAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; nothing is sent when it is left out. */
  readonly body?: unknown;
}

/** What a provider that speaks HTTP is made of. */
export interface HttpProvider {
  /** Answers a request. A `ProviderRefusal` thrown is rendered by `refuse`. */
  handle(request: ProviderRequest): ProviderAnswer | Promise<ProviderAnswer>;
  /** The provider's error shape. */
  refuse(refusal: ProviderRefusal): ProviderAnswer;
  /** A new request id, and the header it goes into. */
  requestId(): readonly [header: string, id: string];
  readonly tls?: ServerCertificate;
}

/** An error answer, as the provider's rules want it. */
export class ProviderRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfter: number | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, message: string, more: { retryAfter?: number; details?: Record<string, unknown> } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = more.retryAfter;
    this.details = more.details ?? {};
  }
}

/** A server of the tests, listening on loopback. */
export interface RunningServer {
  /** Scheme, `localhost` for TLS or `127.0.0.1` without, and the port. */
  readonly url: string;
  readonly port: number;
  /** The calls that were answered, oldest first. */
  readonly calls: readonly RecordedCall[];
  /** Lets coming calls fail. */
  fail(fault: Fault): void;
  /** Forgets waiting faults. */
  heal(): void;
  /** Forgets waiting faults and recorded calls. */
  forget(): void;
  stop(): Promise<void>;
}

const LARGEST_BODY = 4 * 1024 * 1024;

/** Runs a provider on a free port of the loopback interface. */
export async function startHttpProvider(provider: HttpProvider): Promise<RunningServer> {
  const log = new CallLog();
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    void answer(provider, log, request, response).catch(() => request.socket.destroy());
  };
  const server = provider.tls === undefined ? createPlainServer(listener) : createTlsServer({ ...provider.tls }, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: provider.tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    port,
    calls: log.calls,
    fail: (fault) => log.fail(fault),
    heal: () => log.heal(),
    forget: () => log.reset(),
    stop: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

async function answer(provider: HttpProvider, log: CallLog, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(incoming.url ?? '/', 'http://provider');
  const [idHeader, requestId] = provider.requestId();
  const call = { method: incoming.method ?? '', path: url.pathname };
  const text = await readBody(incoming);
  const fault = log.take(`${call.method} ${call.path}`);
  if (fault?.drop === 'request') {
    log.record({ ...call, status: 'dropped' });
    incoming.socket.destroy();
    return;
  }
  if (fault?.hang === true) {
    log.record({ ...call, status: 'hanging' });
    return;
  }
  const result =
    fault !== undefined && fault.drop === undefined
      ? provider.refuse(refusalOf(fault))
      : await attempt(provider, { ...call, query: url.searchParams, headers: incoming.headers, text });
  if (fault?.drop === 'answer') {
    log.record({ ...call, status: 'dropped' });
    incoming.socket.destroy();
    return;
  }
  log.record({ ...call, status: result.status, requestId });
  const body = result.body === undefined ? undefined : JSON.stringify(result.body);
  response.writeHead(result.status, {
    [idHeader]: requestId,
    ...(body !== undefined && { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) }),
    ...result.headers,
  });
  response.end(body);
}

async function attempt(provider: HttpProvider, request: ProviderRequest): Promise<ProviderAnswer> {
  try {
    return await provider.handle(request);
  } catch (error) {
    if (error instanceof ProviderRefusal) return provider.refuse(error);
    const message = error instanceof Error ? error.message : String(error);
    return { status: 599, body: { fault_of_the_test_server: message } };
  }
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > LARGEST_BODY) throw new Error('the body is too large');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function refusalOf(fault: Fault): ProviderRefusal {
  return new ProviderRefusal(
    Number(fault.status ?? 500),
    fault.code ?? '',
    fault.message ?? 'The test made the server fail.',
    fault.retryAfter === undefined ? {} : { retryAfter: fault.retryAfter },
  );
}

/** The JSON body of a request, or a refusal made by `refuse`. */
export function parseJson(text: string, refuse: () => ProviderRefusal): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse();
  }
}

/**
 * The values of a pattern such as `/secrets/{name}` in a path, decoded; `undefined` where the path is another.
 */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const values: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const actual = given[index]!;
    if (part.startsWith('{') && part.endsWith('}')) {
      if (actual === '') return undefined;
      values[part.slice(1, -1)] = decodeURIComponent(actual);
    } else if (part !== actual) return undefined;
  }
  return values;
}
