import { randomUUID } from 'node:crypto';
import {
  deleted,
  invalid,
  invalidValue,
  json,
  missing,
  NAMESPACES,
  otherUid,
  requiredValue,
  status,
  taken,
  type ClusterAnswer,
  type StatusCause,
} from './cluster-status.ts';
import { labelCauses, nameCauses } from './object-rules.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';

const RBAC = 'rbac.authorization.k8s.io';
const CORE = { prefix: '/api/v1', version: 'v1' } as const;
const RIGHTS = { prefix: `/apis/${RBAC}/v1`, version: `${RBAC}/v1` } as const;
const KINDS = [
  { kind: 'ServiceAccount', plural: 'serviceaccounts', group: '', namespaced: true, ...CORE },
  { kind: 'Role', plural: 'roles', group: RBAC, namespaced: true, ...RIGHTS },
  { kind: 'ClusterRole', plural: 'clusterroles', group: RBAC, namespaced: false, ...RIGHTS },
  { kind: 'RoleBinding', plural: 'rolebindings', group: RBAC, namespaced: true, ...RIGHTS },
  { kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', group: RBAC, namespaced: false, ...RIGHTS },
] as const;
type Kind = (typeof KINDS)[number];

/** Seconds. */
const SHORTEST_TOKEN = 600;

/** An object as it is stored and answered. */
export interface ClusterObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly creationTimestamp: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

interface Rule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** Service accounts, roles and bindings of an emulated cluster, with the checks of an API server that clients meet. */
export class ClusterObjects {
  readonly #tokens: ServiceAccountTokens;
  readonly #now: () => number;
  readonly #namespaces: ReadonlyMap<string, unknown>;
  readonly #objects = new Map<string, ClusterObject>();

  constructor(tokens: ServiceAccountTokens, namespaces: ReadonlyMap<string, unknown>, now: () => number) {
    this.#tokens = tokens;
    this.#namespaces = namespaces;
    this.#now = now;
  }

  /** All objects of a kind, as `namespace/name` or `name`. */
  names(kind: string): string[] {
    return [...this.#objects.values()]
      .filter((object) => object.kind === kind)
      .map(({ metadata: { namespace, name } }) => (namespace === undefined ? name : `${namespace}/${name}`));
  }

  /** Undefined where the path is none of objects. */
  answer(method: string, target: string, text: string): ClusterAnswer | undefined {
    const url = new URL(target, 'https://cluster');
    const place = placeOf(url.pathname);
    if (!place) return undefined;
    const { kind, namespace, name, token } = place;
    const body = json(text);
    if (token) return method === 'POST' ? this.#token(namespace, name, body) : undefined;
    if (method === 'POST' && name === '') return this.#create(kind, namespace, body);
    if (method === 'GET' && name === '') return this.#list(kind, namespace, url.searchParams);
    const key = keyOf(kind, namespace, name);
    const object = this.#objects.get(key);
    if (!object) return missing(kind, name);
    if (method === 'GET') return { code: 200, body: object };
    if (method !== 'DELETE') return undefined;
    const wanted = (body?.['preconditions'] as { uid?: string } | undefined)?.uid;
    if (wanted !== undefined && wanted !== object.metadata.uid) return otherUid(kind, name, wanted, object.metadata.uid);
    this.#objects.delete(key);
    if (kind.kind === 'ServiceAccount') this.#tokens.delete(namespace, name);
    return deleted(kind, name, object.metadata.uid);
  }

  /** Whether roles and bindings let the account do it. */
  allows(
    account: { namespace: string; name: string },
    asked: { verb: string; group: string; resource: string; namespace: string },
  ): boolean {
    return [...this.#objects.values()].some((binding) => {
      const everywhere = binding.kind === 'ClusterRoleBinding';
      if (!everywhere && (binding.kind !== 'RoleBinding' || binding.metadata.namespace !== asked.namespace)) return false;
      const subjects = binding['subjects'] as { name: string; namespace: string }[];
      if (!subjects.some((one) => one.name === account.name && one.namespace === account.namespace)) return false;
      const { kind, name } = binding['roleRef'] as { kind: string; name: string };
      const role = this.#objects.get(`${kind}/${kind === 'Role' ? binding.metadata.namespace : ''}/${name}`);
      return ((role?.['rules'] ?? []) as Rule[]).some(
        ({ verbs = [], apiGroups = [], resources = [] }) =>
          has(verbs, asked.verb) && has(apiGroups, asked.group) && has(resources, asked.resource),
      );
    });
  }

  #create(kind: Kind, namespace: string, body: Readonly<Record<string, unknown>> | undefined): ClusterAnswer {
    if (kind.namespaced && !this.#namespaces.has(namespace)) return missing(NAMESPACES, namespace);
    if (body?.['kind'] !== kind.kind || body['apiVersion'] !== kind.version) {
      return status(400, 'BadRequest', `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}`);
    }
    const metadata = (body['metadata'] ?? {}) as { name?: string; namespace?: string; labels?: Record<string, string> };
    const { name = '', labels = {} } = metadata;
    if (kind.namespaced && metadata.namespace !== undefined && metadata.namespace !== namespace) {
      return status(400, 'BadRequest', 'the namespace of the provided object does not match the namespace sent on the request');
    }
    const causes = [...namesCauses(kind, name), ...labelCauses(labels), ...ruleCauses(kind, body)];
    if (causes.length > 0) return invalid(kind, name, causes);
    const key = keyOf(kind, namespace, name);
    if (this.#objects.has(key)) return taken(kind, name);
    const uid = kind.kind === 'ServiceAccount' ? this.#tokens.uidOf(namespace, name) : randomUUID();
    const created = new Date(this.#now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const object = {
      ...body,
      metadata: { ...metadata, ...(kind.namespaced ? { namespace } : {}), name, uid, creationTimestamp: created },
    } as unknown as ClusterObject;
    this.#objects.set(key, object);
    return { code: 201, body: object };
  }

  #list(kind: Kind, namespace: string, query: URLSearchParams): ClusterAnswer {
    const [label, value] = (query.get('labelSelector') ?? '').split('=');
    const all = [...this.#objects.entries()]
      .filter(([, { kind: of, metadata }]) => of === kind.kind && (namespace === '' || metadata.namespace === namespace))
      .filter(([, { metadata }]) => !label || metadata.labels?.[label] === value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .filter(([key]) => key > (query.get('continue') ?? ''));
    const page = all.slice(0, Number(query.get('limit') ?? all.length));
    const more = page.length < all.length ? { continue: page.at(-1)![0] } : {};
    const items = page.map(([, { kind: _kind, apiVersion: _version, ...item }]) => item);
    return { code: 200, body: { kind: `${kind.kind}List`, apiVersion: kind.version, metadata: { resourceVersion: '1', ...more }, items } };
  }

  #token(namespace: string, name: string, body: Readonly<Record<string, unknown>> | undefined): ClusterAnswer {
    if (!this.#objects.has(`ServiceAccount/${namespace}/${name}`)) return missing({ plural: 'serviceaccounts', group: '' }, name);
    const { expirationSeconds = 3_600, audiences } = (body?.['spec'] ?? {}) as { expirationSeconds?: number; audiences?: string[] };
    if (expirationSeconds < SHORTEST_TOKEN) {
      const field = 'spec.expirationSeconds';
      const cause = {
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${expirationSeconds}: may not specify a duration less than 10 minutes`,
        field,
      };
      return invalid({ kind: 'TokenRequest', plural: '', group: 'authentication.k8s.io' }, '', [cause]);
    }
    const token = this.#tokens.issue({ namespace, name, expires: expirationSeconds, ...(audiences ? { audiences } : {}) });
    const until = new Date(this.#now() + expirationSeconds * 1_000).toISOString().replace(/\.\d+Z$/, 'Z');
    const spec = { expirationSeconds, audiences: audiences ?? [] };
    const answer = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', metadata: { name, namespace }, spec };
    return { code: 201, body: { ...answer, status: { token, expirationTimestamp: until } } };
  }
}

function placeOf(path: string): { kind: Kind; namespace: string; name: string; token: boolean } | undefined {
  for (const kind of KINDS) {
    if (!path.startsWith(`${kind.prefix}/`)) continue;
    const parts = path
      .slice(kind.prefix.length + 1)
      .split('/')
      .map(decodeURIComponent);
    const [first, namespace = ''] = parts;
    const inside = first === 'namespaces' && parts.length > 2;
    const [plural, name = '', more, ...rest] = inside ? parts.slice(2) : parts;
    if (plural !== kind.plural || rest.length > 0 || inside !== (kind.namespaced && (inside || name !== ''))) continue;
    if (more !== undefined && (more !== 'token' || kind.kind !== 'ServiceAccount')) continue;
    return { kind, namespace: inside ? namespace : '', name, token: more === 'token' };
  }
  return undefined;
}

function keyOf({ kind }: Kind, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}

function namesCauses({ kind }: Kind, name: string): StatusCause[] {
  if (kind === 'ServiceAccount') return nameCauses(name);
  const sign = ['/', '%'].find((one) => name.includes(one));
  if (sign !== undefined) return [invalidValue('metadata.name', name, `may not contain '${sign}'`)];
  return name === '' ? [requiredValue('metadata.name', 'name or generateName is required')] : [];
}

function ruleCauses({ kind }: Kind, body: Readonly<Record<string, unknown>>): StatusCause[] {
  if (kind !== 'Role' && kind !== 'ClusterRole') return [];
  return ((body['rules'] ?? []) as Rule[]).flatMap(({ verbs = [], apiGroups = [], resources = [], nonResourceURLs = [] }, at) => {
    const field = `rules[${at}]`;
    return [
      ...(verbs.length > 0 ? [] : [requiredValue(`${field}.verbs`, 'verbs must contain at least one value')]),
      ...(apiGroups.length + nonResourceURLs.length > 0
        ? []
        : [requiredValue(`${field}.apiGroups`, 'resource rules must supply at least one api group')]),
      ...(resources.length + nonResourceURLs.length > 0
        ? []
        : [requiredValue(`${field}.resources`, 'resource rules must supply at least one resource')]),
    ];
  });
}

function has(list: readonly string[], one: string): boolean {
  return list.includes('*') || list.includes(one);
}
