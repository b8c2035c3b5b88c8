import { matchPath, parseJson, type ProviderAnswer, ProviderRefusal, type ProviderRequest } from './http-server.ts';
import { badParameter, type KeyVaultEntry, type KeyVaultStore, type KeyVaultVersion } from './key-vault-store.ts';

/** What a caller of the Key Vault of the tests may do. */
export type KeyVaultPermission = 'get' | 'list' | 'set' | 'delete' | 'recover' | 'purge';

const API_VERSIONS = ['7.2', '7.3', '7.4', '7.5', '7.6', '7.6-preview.2', '2025-06-01-preview', '2025-07-01'];
const RECOVERABLE_DAYS = 90;

type Allow = (permission: KeyVaultPermission) => void;

/** The calls of Key Vault that concern secrets. */
export class KeyVaultService {
  readonly #secrets: KeyVaultStore;
  readonly #base: { readonly url: string };
  readonly #pageSize: number;

  constructor(secrets: KeyVaultStore, base: { readonly url: string }, pageSize: number) {
    this.#secrets = secrets;
    this.#base = base;
    this.#pageSize = pageSize;
  }

  handle(request: ProviderRequest, allow: Allow): ProviderAnswer {
    const version = request.query.get('api-version');
    if (version === null) throw badParameter('The api-version query parameter is required.');
    if (!API_VERSIONS.includes(version)) throw badParameter(`Unsupported api-version ${version}.`);
    for (const [line, permission, work] of this.#routes(request)) {
      const [method, pattern] = line.split(' ') as [string, string];
      const values = method === request.method ? matchPath(pattern, request.path) : undefined;
      if (values === undefined) continue;
      allow(permission);
      return work(values['name'] ?? '', values['version']);
    }
    throw new ProviderRefusal(405, 'MethodNotAllowed', `${request.method} is not allowed here.`);
  }

  #routes(
    request: ProviderRequest,
  ): [line: string, permission: KeyVaultPermission, work: (name: string, version: string | undefined) => ProviderAnswer][] {
    const { query, text } = request;
    return [
      ['GET /secrets', 'list', () => this.#page('/secrets', this.#secrets.live(), query, (entry) => this.#item(entry))],
      ['GET /secrets/{name}/versions', 'list', (name) => this.#versions(name, query)],
      ['GET /secrets/{name}', 'get', (name) => this.#get(name, undefined)],
      ['GET /secrets/{name}/', 'get', (name) => this.#get(name, undefined)],
      ['GET /secrets/{name}/{version}', 'get', (name, version) => this.#get(name, version)],
      ['PUT /secrets/{name}', 'set', (name) => this.#set(name, text)],
      ['PATCH /secrets/{name}/', 'set', (name) => this.#update(name, undefined, text)],
      ['PATCH /secrets/{name}/{version}', 'set', (name, version) => this.#update(name, version, text)],
      ['DELETE /secrets/{name}', 'delete', (name) => ok(this.#deletedBundle(this.#secrets.delete(name)))],
      [
        'GET /deletedsecrets',
        'list',
        () => this.#page('/deletedsecrets', this.#secrets.deleted(), query, (entry) => this.#deletedBundle(entry)),
      ],
      ['GET /deletedsecrets/{name}', 'get', (name) => ok(this.#deletedBundle(this.#secrets.requireDeleted(name)))],
      ['POST /deletedsecrets/{name}/recover', 'recover', (name) => ok(this.#item(this.#secrets.recover(name)))],
      ['DELETE /deletedsecrets/{name}', 'purge', (name) => this.#purge(name)],
    ];
  }

  #get(name: string, wanted: string | undefined): ProviderAnswer {
    const { entry, version } = this.#secrets.require(name, wanted);
    if (!version.enabled) {
      throw new ProviderRefusal(403, 'Forbidden', 'Operation get is not allowed on a disabled secret.', {
        details: { innererror: { code: 'SecretDisabled' } },
      });
    }
    return ok(this.#bundle(entry, version, true));
  }

  #set(name: string, text: string): ProviderAnswer {
    const body = readBody(text);
    if (typeof body['value'] !== 'string') throw badParameter('The value property is required.');
    const entry = this.#secrets.set(name, {
      value: body['value'],
      contentType: body['contentType'] as string | undefined,
      tags: body['tags'] as Record<string, string> | undefined,
      ...attributesOf(body),
    });
    return ok(this.#bundle(entry, entry.versions.at(-1)!, true));
  }

  #update(name: string, wanted: string | undefined, text: string): ProviderAnswer {
    const body = readBody(text);
    const version = this.#secrets.update(name, wanted, {
      ...(body['tags'] !== undefined && { tags: body['tags'] as Record<string, string> }),
      ...(body['contentType'] !== undefined && { contentType: body['contentType'] as string }),
      ...attributesOf(body),
    });
    return ok(this.#bundle(this.#secrets.require(name).entry, version, false));
  }

  #purge(name: string): ProviderAnswer {
    this.#secrets.requireDeleted(name);
    this.#secrets.purge(name);
    return { status: 204 };
  }

  #versions(name: string, query: URLSearchParams): ProviderAnswer {
    const { entry } = this.#secrets.require(name);
    return this.#page(`/secrets/${name}/versions`, entry.versions, query, (version) => this.#bundle(entry, version, false));
  }

  #page<Item>(path: string, items: readonly Item[], query: URLSearchParams, render: (item: Item) => unknown): ProviderAnswer {
    const wanted = Number(query.get('maxresults') ?? this.#pageSize);
    if (!Number.isInteger(wanted) || wanted < 1 || wanted > 25) throw badParameter('maxresults must be from 1 to 25.');
    const size = Math.min(wanted, this.#pageSize);
    const from = Number(query.get('$skiptoken') ?? 0);
    const next = `${this.#base.url}${path}?api-version=${query.get('api-version')}&$skiptoken=${from + size}&maxresults=${wanted}`;
    return ok({ value: items.slice(from, from + size).map(render), nextLink: from + size < items.length ? next : null });
  }

  #item(entry: KeyVaultEntry): Record<string, unknown> {
    const version = entry.versions.at(-1)!;
    return { ...this.#bundle(entry, version, false), id: `${this.#base.url}/secrets/${entry.name}` };
  }

  #bundle(entry: KeyVaultEntry, version: KeyVaultVersion, withValue: boolean): Record<string, unknown> {
    return {
      ...(withValue && { value: version.value }),
      ...(version.contentType !== undefined && { contentType: version.contentType }),
      id: `${this.#base.url}/secrets/${entry.name}/${version.id}`,
      attributes: {
        enabled: version.enabled,
        ...(version.expires !== undefined && { exp: version.expires }),
        ...(version.notBefore !== undefined && { nbf: version.notBefore }),
        created: version.created,
        updated: version.updated,
        recoveryLevel: 'Recoverable+Purgeable',
        recoverableDays: RECOVERABLE_DAYS,
      },
      tags: version.tags,
      ...(entry.managed && { managed: true }),
    };
  }

  #deletedBundle(entry: KeyVaultEntry): Record<string, unknown> {
    return {
      ...this.#bundle(entry, entry.versions.at(-1)!, false),
      recoveryId: `${this.#base.url}/deletedsecrets/${entry.name}`,
      deletedDate: entry.deletedAt,
      scheduledPurgeDate: (entry.deletedAt ?? 0) + RECOVERABLE_DAYS * 86_400,
    };
  }
}

const ok = (body: unknown): ProviderAnswer => ({ status: 200, body });

/** What a body says about when a version is good; what it leaves out is not there. */
function attributesOf(body: Record<string, unknown>): { enabled?: boolean; expires?: number; notBefore?: number } {
  const { enabled, exp, nbf } = (body['attributes'] ?? {}) as { enabled?: boolean; exp?: number; nbf?: number };
  return {
    ...(enabled !== undefined && { enabled }),
    ...(exp !== undefined && { expires: exp }),
    ...(nbf !== undefined && { notBefore: nbf }),
  };
}

function readBody(text: string): Record<string, unknown> {
  const body = parseJson(text, () => badParameter('The request body is not JSON.'));
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw badParameter('The request body is not an object.');
  return body as Record<string, unknown>;
}
