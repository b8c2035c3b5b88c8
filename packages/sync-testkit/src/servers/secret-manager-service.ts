import { crc32c } from './crc32c.ts';
import type { Message } from './secret-manager-protos.ts';
import { GrpcRefusal, type Replication, type SecretManagerStore, type StoredSecret, type StoredVersion } from './secret-manager-store.ts';

/** What a caller of the Secret Manager of the tests may do. */
export type SecretManagerPermission =
  | 'secrets.create'
  | 'secrets.get'
  | 'secrets.list'
  | 'secrets.update'
  | 'secrets.delete'
  | 'versions.add'
  | 'versions.access'
  | 'versions.get'
  | 'versions.list'
  | 'versions.enable'
  | 'versions.disable'
  | 'versions.destroy';

type Work = (request: Message) => Message;

/** The calls, each with the permission it needs. */
export class SecretManagerService {
  readonly #secrets: SecretManagerStore;
  readonly #ids: readonly string[];
  readonly #number: string;
  readonly #pageSize: number;
  readonly rules: Readonly<Record<string, readonly [SecretManagerPermission, Work]>>;

  constructor(secrets: SecretManagerStore, projectId: string, projectNumber: string, pageSize: number) {
    this.#secrets = secrets;
    this.#ids = [projectId, projectNumber];
    this.#number = projectNumber;
    this.#pageSize = pageSize;
    this.rules = {
      createSecret: ['secrets.create', (request) => this.#create(request)],
      getSecret: ['secrets.get', (request) => this.#render(secrets.require(this.#secret(request['name'])))],
      listSecrets: ['secrets.list', (request) => this.#list(request)],
      updateSecret: ['secrets.update', (request) => this.#update(request)],
      deleteSecret: [
        'secrets.delete',
        (request) => {
          secrets.delete(this.#secret(request['name']), String(request['etag'] ?? ''));
          return {};
        },
      ],
      addSecretVersion: ['versions.add', (request) => this.#add(request)],
      accessSecretVersion: ['versions.access', (request) => this.#access(request)],
      getSecretVersion: [
        'versions.get',
        (request) => {
          const [id, version] = this.#version(request['name']);
          return this.#renderVersion(id, secrets.requireVersion(id, version));
        },
      ],
      listSecretVersions: ['versions.list', (request) => this.#listVersions(request)],
      enableSecretVersion: ['versions.enable', (request) => this.#move(request, 'ENABLED')],
      disableSecretVersion: ['versions.disable', (request) => this.#move(request, 'DISABLED')],
      destroySecretVersion: ['versions.destroy', (request) => this.#move(request, 'DESTROYED')],
    };
  }

  #create(request: Message): Message {
    if (!this.#ids.some((id) => request['parent'] === `projects/${id}`)) {
      throw new GrpcRefusal(
        'PERMISSION_DENIED',
        `Permission denied on resource project ${String(request['parent'])} (or it may not exist).`,
      );
    }
    const secret = (request['secret'] ?? {}) as Message;
    const created = this.#secrets.create(
      String(request['secretId'] ?? ''),
      (secret['replication'] ?? null) as Replication | null,
      { ...(secret['labels'] as Record<string, string> | undefined) },
      { ...(secret['annotations'] as Record<string, string> | undefined) },
    );
    return this.#render(created);
  }

  #update(request: Message): Message {
    const secret = (request['secret'] ?? {}) as Message;
    const paths = ((request['updateMask'] as { paths?: string[] } | null)?.paths ?? []).filter((path) => path !== '');
    if (paths.length === 0) throw new GrpcRefusal('INVALID_ARGUMENT', 'Field [update_mask] is required.');
    const unknown = paths.find((path) => path !== 'labels' && path !== 'annotations');
    if (unknown !== undefined) throw new GrpcRefusal('INVALID_ARGUMENT', `The field [${unknown}] cannot be updated.`);
    const change = Object.fromEntries(paths.map((path) => [path, { ...(secret[path] as Record<string, string> | undefined) }]));
    return this.#render(this.#secrets.update(this.#secret(secret['name']), String(secret['etag'] ?? ''), change));
  }

  #list(request: Message): Message {
    const wanted = filterOf(String(request['filter'] ?? ''));
    const found = this.#secrets.all().filter(wanted);
    const [page, nextPageToken] = this.#page(found, request);
    return { secrets: page.map((secret) => this.#render(secret)), nextPageToken, totalSize: found.length };
  }

  #listVersions(request: Message): Message {
    const id = this.#secret(request['parent']);
    const newestFirst = this.#secrets.require(id).versions.toReversed();
    const [page, nextPageToken] = this.#page(newestFirst, request);
    return { versions: page.map((version) => this.#renderVersion(id, version)), nextPageToken, totalSize: newestFirst.length };
  }

  #page<Item>(items: readonly Item[], request: Message): [page: Item[], next: string] {
    const size = Math.min(Number(request['pageSize']) || this.#pageSize, this.#pageSize);
    const from = Number(request['pageToken'] || 0);
    return [items.slice(from, from + size), from + size < items.length ? String(from + size) : ''];
  }

  #add(request: Message): Message {
    const id = this.#secret(request['parent']);
    const payload = (request['payload'] ?? {}) as Message;
    const data = Buffer.from((payload['data'] as Uint8Array | undefined) ?? []);
    const checksum = payload['dataCrc32c'];
    if (checksum !== undefined && checksum !== null && Number(checksum) !== crc32c(data)) {
      throw new GrpcRefusal('INVALID_ARGUMENT', 'The checksum of the payload does not match.');
    }
    return this.#renderVersion(id, this.#secrets.addVersion(id, data));
  }

  #access(request: Message): Message {
    const [id, wanted] = this.#version(request['name']);
    const version = this.#secrets.access(id, wanted);
    const name = `projects/${this.#number}/secrets/${id}/versions/${version.number}`;
    return { name, payload: { data: version.data, dataCrc32c: String(crc32c(version.data)) } };
  }

  #move(request: Message, state: 'ENABLED' | 'DISABLED' | 'DESTROYED'): Message {
    const [id, version] = this.#version(request['name']);
    return this.#renderVersion(id, this.#secrets.move(id, version, state, String(request['etag'] ?? '')));
  }

  #secret(name: unknown): string {
    const [, project, id] = /^projects\/([^/]+)\/secrets\/([^/]+)$/.exec(String(name)) ?? [];
    if (project === undefined || id === undefined) {
      throw new GrpcRefusal('INVALID_ARGUMENT', `The name [${String(name)}] does not match the expected format [projects/*/secrets/*].`);
    }
    if (!this.#ids.includes(project)) throw new GrpcRefusal('PERMISSION_DENIED', `Permission denied on resource project ${project}.`);
    return id;
  }

  #version(name: unknown): [secret: string, version: string] {
    const [, secret, version] = /^(projects\/[^/]+\/secrets\/[^/]+)\/versions\/(latest|\d+)$/.exec(String(name)) ?? [];
    if (secret === undefined || version === undefined) {
      throw new GrpcRefusal(
        'INVALID_ARGUMENT',
        `The name [${String(name)}] does not match the expected format [projects/*/secrets/*/versions/*].`,
      );
    }
    return [this.#secret(secret), version];
  }

  #render(secret: StoredSecret): Message {
    return {
      name: `projects/${this.#number}/secrets/${secret.id}`,
      replication: secret.replication,
      createTime: timestamp(secret.created),
      labels: secret.labels,
      annotations: secret.annotations,
      etag: secret.etag,
    };
  }

  #renderVersion(id: string, version: StoredVersion): Message {
    return {
      name: `projects/${this.#number}/secrets/${id}/versions/${version.number}`,
      createTime: timestamp(version.created),
      ...(version.destroyed !== undefined && { destroyTime: timestamp(version.destroyed) }),
      state: version.state,
      etag: version.etag,
      clientSpecifiedPayloadChecksum: true,
    };
  }
}

/** The filters that are understood: `labels.KEY:*` (the label is there) and `labels.KEY=VALUE`. */
function filterOf(filter: string): (secret: StoredSecret) => boolean {
  if (filter === '') return () => true;
  const [, key, operator, value] = /^labels\.([^:=]+)(:|=)(.*)$/.exec(filter) ?? [];
  if (key === undefined || (operator === ':' && value !== '*')) {
    throw new GrpcRefusal('INVALID_ARGUMENT', `The filter [${filter}] is not understood.`);
  }
  return ({ labels }) => (operator === ':' ? key in labels : labels[key] === value);
}

const timestamp = (milliseconds: number): Message => ({
  seconds: String(Math.floor(milliseconds / 1000)),
  nanos: Math.round((milliseconds % 1000) * 1e6),
});
