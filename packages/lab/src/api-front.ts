import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { status, type ClusterAnswer } from './cluster-status.ts';
import { createTestCa } from './test-ca.ts';

/**
 * How the server answers: `well`; `slow`, after a number of milliseconds; `silent`, not at all; `hanging up`; `failing` with 500; `busy` with 429, and a pause of one second or of so many; with
 * `rubbish` that is no JSON; or `endless`, with a body that never ends.
 */
export type ApiMood =
  | 'well'
  | 'silent'
  | 'hanging up'
  | 'failing'
  | 'busy'
  | 'rubbish'
  | 'endless'
  | { readonly slow: number }
  | { readonly busy: number };

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly bearer: string;
}

/**
 * What becomes of a call, asked before the server does it and once more before the answer goes out: `silence` for no answer, `cut` for the end of the connection, a number
 * for a refusal with that status, undefined for the usual.
 */
export type ApiWatch = (call: ApiRequest, when: 'before' | 'after') => 'silence' | 'cut' | 403 | undefined;

/** A request to an API server, read whole. */
export interface FrontRequest extends ApiRequest {
  readonly accept: string;
  /** Content type of the body. */
  readonly type: string;
  readonly body: string;
}

/** Who answers behind a front. */
export type ApiBackend = (request: FrontRequest) => ClusterAnswer | Promise<ClusterAnswer>;

/** An API server as clients see it, over TLS on a free loopback port. It counts requests, and misbehaves as tests want it to. */
export interface ApiFront {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** PEM of the CA that has issued the server's certificate. */
  readonly ca: string;
  /** Tests may empty it. */
  readonly requests: ApiRequest[];
  /** Connections since the start, and the most requests that were answered at one time. */
  readonly connections: number;
  readonly mostAtOnce: number;
  become(mood: ApiMood): void;
  watch(watcher: ApiWatch): void;
  stop(): Promise<void>;
}

/** Starts a front before a server. */
export async function startApiFront(backend: ApiBackend, port = 0): Promise<ApiFront> {
  const testCa = createTestCa();
  const requests: ApiRequest[] = [];
  const open = new Set<Socket>();
  let mood: ApiMood = 'well';
  let watcher: ApiWatch = () => undefined;
  let connections = 0;
  let atOnce = 0;
  let mostAtOnce = 0;

  const server = createServer({ ...testCa.issue('kubernetes', ['IP:127.0.0.1', 'DNS:localhost']) }, (request, response) => {
    const call = { method: request.method!, path: request.url!, bearer: bearerOf(request) };
    requests.push(call);
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    response.once('close', () => (atOnce -= 1));
    const accept = request.headers.accept ?? '';
    const type = request.headers['content-type'] ?? '';
    void readBody(request).then((body) =>
      moody(mood, response, () => watched(watcher, call, response, async () => backend({ ...call, accept, type, body }))),
    );
  });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: testCa.certificate,
    requests,
    get connections() {
      return connections;
    },
    get mostAtOnce() {
      return mostAtOnce;
    },
    become: (next) => (mood = next),
    watch: (next) => (watcher = next),
    stop: async () => {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function moody(mood: ApiMood, response: ServerResponse, work: () => Promise<void>): void {
  if (typeof mood === 'object' && 'busy' in mood) return busy(response, mood.busy);
  if (typeof mood === 'object') return void setTimeout(() => void work(), mood.slow);
  switch (mood) {
    case 'well':
      return void work();
    case 'silent':
      return;
    case 'hanging up':
      return void response.socket?.destroy();
    case 'failing':
      return refuse(response, 500, 'InternalError', 'etcdserver: request timed out');
    case 'busy':
      return busy(response, 1);
    case 'rubbish':
      return void response.writeHead(201, { 'content-type': 'application/json' }).end('<html>');
    case 'endless':
      response.writeHead(201, { 'content-type': 'application/json' });
      return endless(response);
  }
}

function busy(response: ServerResponse, seconds: number): void {
  refuse(response, 429, 'TooManyRequests', 'too many requests, please try again later', { 'retry-after': String(seconds) });
}

function endless(response: ServerResponse): void {
  const block = Buffer.alloc(65_536, 32);
  const more = (): void => {
    while (!response.destroyed && response.write(block));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

async function watched(watcher: ApiWatch, call: ApiRequest, response: ServerResponse, work: () => Promise<ClusterAnswer>): Promise<void> {
  const before = watcher(call, 'before');
  if (before === 'silence') return;
  if (before === 'cut') return void response.socket?.destroy();
  if (before !== undefined) return refuse(response, before, 'Forbidden', 'forbidden by the test');
  const { code, body } = await work();
  const after = watcher(call, 'after');
  if (after === 'silence') return;
  if (after === 'cut') return void response.socket?.destroy();
  send(response, code, body);
}

function bearerOf(request: IncomingMessage): string {
  return (request.headers.authorization ?? '').replace(/^Bearer /, '');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function refuse(
  response: ServerResponse,
  code: number,
  reason: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(response, code, status(code, reason, message).body, headers);
}

function send(response: ServerResponse, code: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
