import { randomUUID } from 'node:crypto';
import {
  deleted,
  invalid,
  invalidValue,
  json,
  missing,
  modified,
  NAMESPACES,
  otherUid,
  requiredValue,
  status,
  taken,
  type ClusterAnswer,
} from './cluster-status.ts';
import { FieldOwners, type FieldPath } from './field-owners.ts';
import { contentOf, EMPTY, grown, leaves, patched, refusal, SECRETS, type Content, type Sent } from './secret-content.ts';

interface Held extends Content {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  readonly created: string;
  readonly owners: FieldOwners;
}

/** One request about Secrets. */
export interface SecretRequest {
  readonly method: string;
  readonly namespace: string;
  /** '' for all. */
  readonly name: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly type: string;
  readonly body: string;
}

/** Secrets of an emulated cluster: server-side apply with its owners of fields, preconditions, and the checks that clients meet. */
export class ClusterSecrets {
  readonly #held = new Map<string, Held>();
  readonly #namespaces: ReadonlyMap<string, unknown>;
  readonly #now: () => number;
  #version = 100;

  constructor(namespaces: ReadonlyMap<string, unknown>, now: () => number) {
    this.#namespaces = namespaces;
    this.#now = now;
  }

  answer(request: SecretRequest): ClusterAnswer {
    const { method, namespace, name, query } = request;
    const found = this.#held.get(`${namespace}/${name}`);
    const sent = (json(request.body) ?? {}) as Sent;
    if (method === 'GET' && name === '') return this.#list(request);
    if (method === 'POST' && name === '') return this.#create(request, sent);
    if (method === 'DELETE' && name === '') return this.#empty(request);
    if (method === 'PATCH' && request.type === 'application/apply-patch+yaml') return this.#apply(request, sent, found);
    if (!found) return missing(SECRETS, name);
    if (method === 'GET') return shown(200, found, request.accept);
    if (method === 'DELETE') return this.#delete(found, sent as { preconditions?: { uid?: string } });
    const manager = query.get('fieldManager') ?? 'unknown';
    if (method === 'PUT') return this.#change(request, found, { ...contentOf(sent), type: sent.type ?? found.type }, sent, manager);
    if (method !== 'PATCH' || request.type !== 'application/merge-patch+json') {
      return status(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
    }
    return this.#change(request, found, patched(found, sent), sent, manager);
  }

  #list({ namespace, query, accept }: SecretRequest): ClusterAnswer {
    const wanted = (query.get('labelSelector') ?? '').split(',').filter((part) => part !== '');
    const all = [...this.#held.values()]
      .filter((held) => held.namespace === namespace && held.name > (query.get('continue') ?? ''))
      .filter(({ labels }) => wanted.every((part) => labels[part.split('=')[0]!] === part.split('=')[1]))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
    const page = all.slice(0, Number(query.get('limit') ?? all.length));
    const more = page.length < all.length ? { continue: page.at(-1)!.name, remainingItemCount: all.length - page.length } : {};
    const metadata = { resourceVersion: String(this.#version), ...more };
    const items = page.map((held) => shown(200, held, accept.replace('MetadataList', 'Metadata')).body);
    // The real one has null for an empty list of metadata, and an empty list for one of objects.
    if (isMetadata(accept)) {
      const body = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata, items: items.length > 0 ? items : null };
      return { code: 200, body };
    }
    return { code: 200, body: { kind: 'SecretList', apiVersion: 'v1', metadata, items } };
  }

  #empty(request: SecretRequest): ClusterAnswer {
    const removed = this.#list(request);
    for (const [key, held] of this.#held) if (held.namespace === request.namespace) this.#held.delete(key);
    return removed;
  }

  #create(request: SecretRequest, sent: Sent): ClusterAnswer {
    const name = sent.metadata?.name ?? '';
    if (!this.#namespaces.has(request.namespace)) return missing(NAMESPACES, request.namespace);
    if (this.#held.has(`${request.namespace}/${name}`)) return taken(SECRETS, name);
    const content = contentOf(sent);
    const owners = new FieldOwners();
    owners.update(
      request.query.get('fieldManager') ?? 'unknown',
      [...leaves(content).values()].map(({ path }) => path),
      [],
      this.#time(),
    );
    return this.#store(request, 201, { ...this.#born(request.namespace, name, owners), ...content });
  }

  #apply(request: SecretRequest, sent: Sent, found: Held | undefined): ClusterAnswer {
    const { name, namespace, query } = request;
    const manager = query.get('fieldManager') ?? '';
    if (manager === '') {
      return invalid({ kind: 'PatchOptions', plural: '', group: 'meta.k8s.io' }, '', [
        requiredValue('fieldManager', 'is required for apply patch'),
      ]);
    }
    const { uid, resourceVersion } = sent.metadata ?? {};
    if (sent.metadata?.name !== undefined && sent.metadata.name !== name) {
      return status(400, 'BadRequest', `the name of the object (${sent.metadata.name}) does not match the name on the URL (${name})`);
    }
    if (!this.#namespaces.has(namespace)) return missing(NAMESPACES, namespace);
    const applied = leaves(contentOf(sent, sent.type ?? found?.type));
    if (sent.type === undefined) applied.delete('["type"]');
    if (!found && uid !== undefined) {
      const message = `Operation cannot be fulfilled on secrets "${name}": uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      return status(409, 'Conflict', message, { name, kind: 'secrets' });
    }
    const before = leaves(found ?? EMPTY);
    const named = [...applied.values()].map(({ path }) => path);
    const changed = [...applied].filter(([key, { value }]) => before.get(key)?.value !== value).map(([, { path }]) => path);
    const owners = found?.owners ?? new FieldOwners();
    const conflicts = owners.conflicts(manager, changed);
    if (conflicts.length > 0 && query.get('force') !== 'true') return refusedApply(conflicts);
    if (found && resourceVersion !== undefined && !['', '0', found.version].includes(resourceVersion)) return modified(SECRETS, name);
    if (found && uid !== undefined && uid !== found.uid) return wrongUid(name, uid);
    const gone = owners.applied(manager).filter((path) => !applied.has(JSON.stringify(path)));
    const next = { ...(found ?? this.#born(namespace, name, owners)), ...grown(found ?? EMPTY, sent, gone) };
    const refused = refusal(name, next, found);
    if (refused) return refused;
    if (found && changed.length + gone.length === 0 && sameFields(owners, manager, named)) return shown(200, found, request.accept);
    owners.apply(manager, named, changed, gone, this.#time());
    return this.#store(request, found ? 200 : 201, found ? { ...next, version: this.#next() } : next);
  }

  #change(request: SecretRequest, found: Held, content: Content, sent: Sent, manager: string): ClusterAnswer {
    const { uid, resourceVersion } = sent.metadata ?? {};
    if (resourceVersion !== undefined && resourceVersion !== found.version) return modified(SECRETS, found.name);
    if (uid !== undefined && uid !== found.uid) return wrongUid(found.name, uid);
    const refused = refusal(found.name, { ...found, ...content }, found);
    if (refused) return refused;
    const before = leaves(found);
    const after = leaves(content);
    const changed = [...after].filter(([key, { value }]) => before.get(key)?.value !== value).map(([, { path }]) => path);
    const gone = [...before].filter(([key]) => !after.has(key)).map(([, { path }]) => path);
    if (changed.length + gone.length === 0) return shown(200, found, request.accept);
    found.owners.update(manager, changed, gone, this.#time());
    return this.#store(request, 200, { ...found, ...content, version: this.#next() });
  }

  #delete(found: Held, { preconditions }: { readonly preconditions?: { readonly uid?: string } }): ClusterAnswer {
    const wanted = preconditions?.uid;
    if (wanted !== undefined && wanted !== found.uid) return otherUid(SECRETS, found.name, wanted, found.uid);
    this.#held.delete(`${found.namespace}/${found.name}`);
    return deleted(SECRETS, found.name, found.uid);
  }

  #store(request: SecretRequest, code: number, held: Held): ClusterAnswer {
    const refused = code === 201 ? refusal(held.name, held, undefined) : undefined;
    if (refused) return refused;
    this.#held.set(`${held.namespace}/${held.name}`, held);
    return shown(code, held, request.accept);
  }

  #born(namespace: string, name: string, owners: FieldOwners): Held {
    return { ...EMPTY, namespace, name, uid: randomUUID(), version: this.#next(), created: this.#time(), owners };
  }

  #next(): string {
    this.#version += 1;
    return String(this.#version);
  }

  #time(): string {
    return new Date(this.#now()).toISOString().replace(/\.\d+Z$/, 'Z');
  }
}

function sameFields(owners: FieldOwners, manager: string, named: readonly FieldPath[]): boolean {
  const entry = owners.toJSON().find((owner) => {
    const { manager: of, operation } = owner as { manager: string; operation: string };
    return of === manager && operation === 'Apply';
  });
  const fresh = new FieldOwners();
  fresh.apply(manager, named, [], [], (entry as { time?: string } | undefined)?.time ?? '');
  return JSON.stringify(fresh.toJSON()[0]) === JSON.stringify(entry);
}

function refusedApply(conflicts: readonly { readonly manager: string; readonly field: FieldPath }[]): ClusterAnswer {
  const named = conflicts
    .map(({ manager, field }) => ({ manager, field: `.${field.join('.')}` }))
    .sort((one, other) => (one.field < other.field ? -1 : 1));
  const causes = named.map(({ manager, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with "${manager}" using v1`,
    field,
  }));
  const [first, ...others] = named;
  const text =
    others.length === 0
      ? `1 conflict: conflict with "${first!.manager}" using v1: ${first!.field}`
      : `${named.length} conflicts: conflicts with "${first!.manager}" using v1:\n${named.map(({ field }) => `- ${field}`).join('\n')}`;
  return status(409, 'Conflict', `Apply failed with ${text}`, { causes });
}

function wrongUid(name: string, uid: string): ClusterAnswer {
  const cause = invalidValue('metadata.uid', uid, 'field is immutable');
  return invalid(SECRETS, name, [cause, cause]);
}

function shown(code: number, held: Held, accept: string): ClusterAnswer {
  const { namespace, name, uid, version, created, labels, annotations, data, type, immutable, owners } = held;
  const metadata = {
    name,
    namespace,
    uid,
    resourceVersion: version,
    creationTimestamp: created,
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    managedFields: owners.toJSON(),
  };
  if (isMetadata(accept)) return { code, body: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata } };
  const content = { ...(Object.keys(data).length > 0 ? { data } : {}), type, ...(immutable ? { immutable } : {}) };
  return { code, body: { kind: 'Secret', apiVersion: 'v1', metadata, ...content } };
}

function isMetadata(accept: string): boolean {
  return /as=PartialObjectMetadata/.test(accept);
}
