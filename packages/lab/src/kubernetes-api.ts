import { ClusterObjects } from './cluster-objects.ts';
import { ClusterSecrets } from './cluster-secrets.ts';
import { forbidden, json, missing, NAMESPACES, status, type ClusterAnswer } from './cluster-status.ts';
import { startApiFront, type ApiFront, type FrontRequest } from './api-front.ts';
import type { ClusterRequest, KubernetesCluster } from './kubernetes-cluster.ts';
import { askedOf } from './resource-access.ts';
import { API_AUDIENCE, ServiceAccountTokens, type TokenOwner, type TokenRequest } from './service-account-tokens.ts';

/**
 * The parts of a Kubernetes API server that logins of service accounts and credentials need, over TLS on a free loopback port: token reviews, namespaces with
 * labels, service accounts with their tokens, roles, bindings and Secrets. Rights are those of roles and bindings; that nobody gives rights they do not have is not checked.
 */
export interface KubernetesApi extends KubernetesCluster {
  /** A token of an account that may review tokens and read namespaces. */
  readonly reviewer: string;
  /** Service accounts, roles and bindings. `issue` creates none of them. */
  readonly objects: ClusterObjects;
  /** PEM of the key that tokens are verified with. */
  readonly publicKey: string;
  /** A token of an account, which exists from then on. */
  issue(request?: TokenRequest): string;
  uidOf(namespace: string, name: string): string;
  deleteAccount(namespace: string, name: string): void;
  /** Lets the account review tokens and read namespaces, or no longer. */
  allowReviews(namespace: string, name: string, allowed?: boolean): void;
  /** Creates a namespace, or replaces its labels. */
  label(namespace: string, labels: Readonly<Record<string, string>>): void;
}

export interface KubernetesApiOptions {
  /** Milliseconds since the epoch, for tests that move the clock. */
  readonly now?: () => number;
  readonly port?: number;
}

/** The account that may do everything. */
const MANAGER = { namespace: 'kube-system', name: 'manager' };
const YEARS = 10 * 365 * 86_400;

interface Parts {
  readonly tokens: ServiceAccountTokens;
  readonly reviewers: Set<string>;
  readonly namespaces: Map<string, Readonly<Record<string, string>>>;
  readonly objects: ClusterObjects;
  readonly secrets: ClusterSecrets;
}

/** Starts the server. */
export async function startKubernetesApi({ now = Date.now, port = 0 }: KubernetesApiOptions = {}): Promise<KubernetesApi> {
  const tokens = new ServiceAccountTokens(now);
  const namespaces = new Map<string, Readonly<Record<string, string>>>([
    ['default', { team: 'red' }],
    ['kube-system', {}],
    ['prod', { team: 'blue' }],
  ]);
  const parts: Parts = {
    tokens,
    reviewers: new Set(['kube-system/reviewer']),
    namespaces,
    objects: new ClusterObjects(tokens, namespaces, now),
    secrets: new ClusterSecrets(namespaces, now),
  };
  const manager = tokens.issue({ ...MANAGER, expires: YEARS });
  const reviewer = tokens.issue({ namespace: 'kube-system', name: 'reviewer', expires: YEARS });
  const front: ApiFront = await startApiFront((request) => answer(parts, request), port);
  const ask = async ({ method, path, body, type = 'application/json', accept = 'application/json', bearer = manager }: ClusterRequest) =>
    answer(parts, { method, path, bearer, accept, type, body: body === undefined ? '' : JSON.stringify(body) });
  const more = {
    reviewer,
    manager,
    objects: parts.objects,
    publicKey: tokens.publicKey,
    ask,
    issue: (request?: TokenRequest) => tokens.issue(request),
    uidOf: (namespace: string, name: string) => tokens.uidOf(namespace, name),
    deleteAccount: (namespace: string, name: string) => tokens.delete(namespace, name),
    allowReviews: (namespace: string, name: string, allowed = true) => {
      if (allowed) parts.reviewers.add(`${namespace}/${name}`);
      else parts.reviewers.delete(`${namespace}/${name}`);
    },
    label: (namespace: string, labels: Readonly<Record<string, string>>) => void namespaces.set(namespace, labels),
  };
  // Not spread: the front counts while it runs.
  return Object.defineProperties(more, Object.getOwnPropertyDescriptors(front)) as KubernetesApi;
}

const UNAUTHORIZED = status(401, 'Unauthorized', 'Unauthorized');
const UNKNOWN = status(404, 'NotFound', 'the server could not find the requested resource', {});

function answer({ tokens, reviewers, namespaces, objects, secrets }: Parts, request: FrontRequest): ClusterAnswer {
  const { method, path, body } = request;
  const caller = tokens.check(request.bearer);
  if (typeof caller === 'string' || !caller.audiences.includes(API_AUDIENCE)) return UNAUTHORIZED;
  const manages = caller.namespace === MANAGER.namespace && caller.name === MANAGER.name;
  if (path === '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews' && method === 'POST') {
    return accessReview(objects, caller, manages, body);
  }
  const asked = askedOf(method, path);
  if (!asked) return UNKNOWN;
  const reviews = reviewers.has(`${caller.namespace}/${caller.name}`) && ['tokenreviews', 'namespaces'].includes(asked.resource);
  const may = (verb: string): boolean => manages || reviews || objects.allows(caller, { ...asked, verb });
  if (asked.resource === 'tokenreviews') {
    if (method !== 'POST') return status(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
    return may('create') ? review(tokens, request) : forbidden(caller, asked);
  }
  if (!may(asked.verb)) return forbidden(caller, asked);
  if (asked.resource === 'namespaces')
    return method === 'GET' && asked.name !== undefined ? namespaceNamed(namespaces, asked.name) : UNKNOWN;
  if (asked.resource !== 'secrets') return objects.answer(method, path, body) ?? UNKNOWN;
  const { namespace, name = '' } = asked;
  const { searchParams: query } = new URL(path, 'https://cluster');
  const about = { method, namespace, name, query, accept: request.accept, type: request.type, body };
  // An apply that would create needs the right to create, too.
  const creates = method === 'PATCH' && secrets.answer({ ...about, method: 'GET' }).code === 404;
  return creates && !may('create') ? forbidden(caller, { ...asked, verb: 'create' }) : secrets.answer(about);
}

function namespaceNamed(namespaces: Parts['namespaces'], name: string): ClusterAnswer {
  const labels = namespaces.get(name);
  if (!labels) return missing(NAMESPACES, name);
  const metadata = { name, labels: { 'kubernetes.io/metadata.name': name, ...labels } };
  const body = { kind: 'Namespace', apiVersion: 'v1', metadata, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
  return { code: 200, body };
}

function accessReview(objects: ClusterObjects, caller: TokenOwner, manages: boolean, body: string): ClusterAnswer {
  const { spec } = JSON.parse(body) as { spec: { resourceAttributes: Record<string, string> } };
  const { verb = '', group = '', namespace = '', subresource } = spec.resourceAttributes;
  const resource = `${spec.resourceAttributes['resource'] ?? ''}${subresource ? `/${subresource}` : ''}`;
  const allowed = manages || objects.allows(caller, { verb, group, resource, namespace });
  return {
    code: 201,
    body: { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', metadata: {}, spec, status: { allowed } },
  };
}

function review(tokens: ServiceAccountTokens, request: FrontRequest): ClusterAnswer {
  if (request.type !== 'application/json') {
    return status(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format');
  }
  const asked = json(request.body) as TokenReview | undefined;
  const { kind = 'TokenReview', apiVersion = 'authentication.k8s.io/v1', spec } = asked ?? {};
  if (!asked || kind !== 'TokenReview' || apiVersion !== 'authentication.k8s.io/v1') {
    return status(400, 'BadRequest', 'TokenReview in version "v1" cannot be handled as a TokenReview');
  }
  if (!spec?.token) return status(400, 'BadRequest', 'token is required for TokenReview');
  return { code: 201, body: { kind, apiVersion, metadata: {}, spec, status: statusOf(tokens, spec.token, spec.audiences ?? []) } };
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

interface TokenReview {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly spec?: { readonly token?: string; readonly audiences?: readonly string[] };
}
