import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Socket } from 'node:net';
import { ClusterObjects } from './cluster-objects.ts';
import { API_AUDIENCE, ServiceAccountTokens, type TokenOwner, type TokenRequest } from './service-account-tokens.ts';
import { createTestCa } from './test-ca.ts';

/**
 * How the server answers: `well`; `slow`, after a number of milliseconds; `silent`, not at all; `hanging up`; `failing` with 500; `busy` with 429; with
 * `rubbish` that is no JSON; or `endless`, with a body that never ends.
 */
export type ApiMood = 'well' | 'silent' | 'hanging up' | 'failing' | 'busy' | 'rubbish' | 'endless' | { readonly slow: number };

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly bearer: string;
}

/**
 * What becomes of a call, asked before the server does it and once more before the answer goes out: `silence` for no answer, a number for a refusal with that
 * status, undefined for the usual.
 */
export type ApiWatch = (call: ApiRequest, when: 'before' | 'after') => 'silence' | 403 | undefined;

/**
 * The parts of a Kubernetes API server that logins of service accounts and credentials need, over TLS on a free loopback port: token reviews, namespaces with
 * labels, service accounts with their tokens, roles and bindings.
 */
export interface KubernetesApi {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** PEM of the CA that has issued the server's certificate. */
  readonly ca: string;
  /** A token of an account that may review tokens and read namespaces. */
  readonly reviewer: string;
  /** A token of an account that may do everything. It is in no review's list of accounts. */
  readonly manager: string;
  /** Service accounts, roles and bindings. `issue` creates none of them. */
  readonly objects: ClusterObjects;
  /** PEM of the key that tokens are verified with. */
  readonly publicKey: string;
  /** Tests may empty it. */
  readonly requests: ApiRequest[];
  /** Connections since the start, and the most requests that were answered at one time. */
  readonly connections: number;
  readonly mostAtOnce: number;
  /** A token of an account, which exists from then on. */
  issue(request?: TokenRequest): string;
  uidOf(namespace: string, name: string): string;
  deleteAccount(namespace: string, name: string): void;
  /** Lets the account review tokens and read namespaces, or no longer. */
  allowReviews(namespace: string, name: string, allowed?: boolean): void;
  /** Creates a namespace, or replaces its labels. */
  label(namespace: string, labels: Readonly<Record<string, string>>): void;
  become(mood: ApiMood): void;
  watch(watcher: ApiWatch): void;
  stop(): Promise<void>;
}

export interface KubernetesApiOptions {
  /** Milliseconds since the epoch, for tests that move the clock. */
  readonly now?: () => number;
  readonly port?: number;
}

/** The account that may do everything. */
const MANAGER = 'manager';

interface Parts {
  readonly tokens: ServiceAccountTokens;
  readonly reviewers: Set<string>;
  readonly namespaces: Map<string, Readonly<Record<string, string>>>;
  readonly objects: ClusterObjects;
}

/** Starts the server. */
export async function startKubernetesApi({ now = Date.now, port = 0 }: KubernetesApiOptions = {}): Promise<KubernetesApi> {
  const testCa = createTestCa();
  const tokens = new ServiceAccountTokens(now);
  const namespaces = new Map([
    ['default', { team: 'red' }],
    ['prod', { team: 'blue' }],
  ]);
  const parts: Parts = {
    tokens,
    reviewers: new Set(['kube-system/reviewer']),
    namespaces,
    objects: new ClusterObjects(tokens, namespaces, now),
  };
  const manager = tokens.issue({ namespace: 'kube-system', name: MANAGER, expires: 10 * 365 * 86_400 });
  const reviewer = parts.tokens.issue({ namespace: 'kube-system', name: 'reviewer', expires: 10 * 365 * 86_400 });
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
    void readBody(request).then((body) =>
      moody(mood, response, () => watched(watcher, call, response, (held) => answer(parts, request, body, held))),
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
    reviewer,
    manager,
    objects: parts.objects,
    publicKey: parts.tokens.publicKey,
    requests,
    get connections() {
      return connections;
    },
    get mostAtOnce() {
      return mostAtOnce;
    },
    issue: (request) => parts.tokens.issue(request),
    uidOf: (namespace, name) => parts.tokens.uidOf(namespace, name),
    deleteAccount: (namespace, name) => parts.tokens.delete(namespace, name),
    allowReviews: (namespace, name, allowed = true) => {
      if (allowed) parts.reviewers.add(`${namespace}/${name}`);
      else parts.reviewers.delete(`${namespace}/${name}`);
    },
    label: (namespace, labels) => void parts.namespaces.set(namespace, labels),
    become: (next) => (mood = next),
    watch: (next) => (watcher = next),
    stop: async () => {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function moody(mood: ApiMood, response: ServerResponse, work: () => void): void {
  if (typeof mood === 'object') return void setTimeout(work, mood.slow);
  switch (mood) {
    case 'well':
      return work();
    case 'silent':
      return;
    case 'hanging up':
      return void response.socket?.destroy();
    case 'failing':
      return refuse(response, 500, 'InternalError', 'etcdserver: request timed out');
    case 'busy':
      return refuse(response, 429, 'TooManyRequests', 'too many requests, please try again later');
    case 'rubbish':
      return void response.writeHead(201, { 'content-type': 'application/json' }).end('<html>');
    case 'endless':
      response.writeHead(201, { 'content-type': 'application/json' });
      return endless(response);
  }
}

function endless(response: ServerResponse): void {
  const block = Buffer.alloc(65_536, 32);
  const more = (): void => {
    while (!response.destroyed && response.write(block));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

/** As much of a response as answers need. */
type Answering = Pick<ServerResponse, 'writeHead' | 'end'>;

function watched(watcher: ApiWatch, call: ApiRequest, response: ServerResponse, work: (held: Answering) => void): void {
  const before = watcher(call, 'before');
  if (before === 'silence') return;
  if (before !== undefined) return refuse(response, before, 'Forbidden', 'forbidden by the test');
  const held: { code: number; body: string } = { code: 0, body: '' };
  const answering = {
    writeHead: (code: number) => ((held.code = code), answering),
    end: (body: string) => ((held.body = body), answering),
  };
  work(answering as unknown as Answering);
  if (watcher(call, 'after') === 'silence') return;
  response.writeHead(held.code, { 'content-type': 'application/json' }).end(held.body);
}

function answer({ tokens, reviewers, namespaces, objects }: Parts, request: IncomingMessage, body: string, response: Answering): void {
  const caller = tokens.check(bearerOf(request));
  if (typeof caller === 'string' || !caller.audiences.includes(API_AUDIENCE)) return refuse(response, 401, 'Unauthorized', 'Unauthorized');
  const manages = caller.namespace === 'kube-system' && caller.name === MANAGER;
  const allowed = manages || reviewers.has(`${caller.namespace}/${caller.name}`);
  if (request.url === '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews' && request.method === 'POST') {
    return accessReview(objects, caller, manages, body, response);
  }
  if (request.url === '/apis/authentication.k8s.io/v1/tokenreviews') {
    if (request.method !== 'POST')
      return refuse(response, 405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
    if (!allowed) return refuse(response, 403, 'Forbidden', forbidden(caller, 'create', 'tokenreviews', 'authentication.k8s.io'));
    return review(tokens, request, body, response);
  }
  const found = manages ? objects.answer(request.method ?? '', request.url ?? '', body) : undefined;
  if (found) return json(response, found.code, found.body);
  const [, namespace] = /^\/api\/v1\/namespaces\/([^/?]+)$/.exec(request.url ?? '') ?? [];
  if (namespace === undefined) return refuse(response, 404, 'NotFound', 'the server could not find the requested resource');
  if (!allowed) return refuse(response, 403, 'Forbidden', forbidden(caller, 'get', 'namespaces', ''));
  const name = decodeURIComponent(namespace);
  const labels = namespaces.get(name);
  if (!labels) return refuse(response, 404, 'NotFound', `namespaces "${name}" not found`);
  const metadata = { name, labels: { 'kubernetes.io/metadata.name': name, ...labels } };
  json(response, 200, { kind: 'Namespace', apiVersion: 'v1', metadata, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } });
}

function accessReview(objects: ClusterObjects, caller: TokenOwner, manages: boolean, body: string, response: Answering): void {
  const { spec } = JSON.parse(body) as { spec: { resourceAttributes: Record<string, string> } };
  const { verb = '', group = '', resource = '', namespace = '' } = spec.resourceAttributes;
  const allowed = manages || objects.allows(caller, { verb, group, resource, namespace });
  const answered = { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', metadata: {}, spec, status: { allowed } };
  json(response, 201, answered);
}

function review(tokens: ServiceAccountTokens, request: IncomingMessage, body: string, response: Answering): void {
  if (request.headers['content-type'] !== 'application/json') {
    return refuse(response, 415, 'UnsupportedMediaType', 'the body of the request was in an unknown format');
  }
  const asked = parse(body);
  const { kind = 'TokenReview', apiVersion = 'authentication.k8s.io/v1', spec } = asked ?? {};
  if (!asked || kind !== 'TokenReview' || apiVersion !== 'authentication.k8s.io/v1') {
    return refuse(response, 400, 'BadRequest', 'TokenReview in version "v1" cannot be handled as a TokenReview');
  }
  if (!spec?.token) return refuse(response, 400, 'BadRequest', 'token is required for TokenReview');
  json(response, 201, { kind, apiVersion, metadata: {}, spec, status: statusOf(tokens, spec.token, spec.audiences ?? []) });
}

/** As an API server does, `authenticated` is left out where it is false. */
function statusOf(tokens: ServiceAccountTokens, token: string, asked: readonly string[]): Record<string, unknown> {
  const owner = tokens.check(token);
  if (typeof owner === 'string') return { user: {}, error: owner };
  const wanted = asked.length > 0 ? asked : [API_AUDIENCE];
  const audiences = wanted.filter((one) => owner.audiences.includes(one));
  if (audiences.length === 0) {
    return {
      user: {},
      error: `[invalid bearer token, token audiences ${JSON.stringify(owner.audiences)} is invalid for the target audiences ${JSON.stringify(wanted)}]`,
    };
  }
  const { namespace, name, uid } = owner;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return { authenticated: true, user: { username: `system:serviceaccount:${namespace}:${name}`, uid, groups }, audiences };
}

function forbidden({ namespace, name }: TokenOwner, verb: string, resource: string, group: string): string {
  const of = group === '' ? resource : `${resource}.${group}`;
  return `${of} is forbidden: User "system:serviceaccount:${namespace}:${name}" cannot ${verb} resource "${resource}" in API group "${group}" at the cluster scope`;
}

function bearerOf(request: IncomingMessage): string {
  return (request.headers.authorization ?? '').replace(/^Bearer /, '');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

interface TokenReview {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly spec?: { readonly token?: string; readonly audiences?: readonly string[] };
}

function parse(body: string): TokenReview | undefined {
  try {
    return JSON.parse(body) as TokenReview;
  } catch {
    return undefined;
  }
}

function refuse(response: Answering, code: number, reason: string, message: string): void {
  json(response, code, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code });
}

function json(response: Answering, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
