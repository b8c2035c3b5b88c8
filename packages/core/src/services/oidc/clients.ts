import { BadRequest, type StorageView } from '@strongroom/engine-sdk';
import { createHash, timingSafeEqual } from 'node:crypto';
import { randomBase62 } from '../../kernel/random/random-base62.ts';
import type { Assignments } from './assignments.ts';
import { DEFAULT_KEY } from './key-stages.ts';
import type { NamedKeys } from './named-keys.ts';
import { oidcRecords, requireShortName, type Client } from './oidc-records.ts';

const CLIENT_ID_LENGTH = 32;
const SECRET_PREFIX = 'hvo_secret_';
const SECRET_LENGTH = 64;
const DAY = 86_400;

/** A write; undefined is "not sent". */
export interface ClientFields {
  readonly redirect_uris?: readonly string[] | undefined;
  readonly assignments?: readonly string[] | undefined;
  readonly key?: string | undefined;
  readonly client_type?: string | undefined;
  readonly id_token_ttl?: number | undefined;
  readonly access_token_ttl?: number | undefined;
  /** Only of a client that is imported, and new here. */
  readonly credentials?: { readonly client_id: string; readonly client_secret: string | undefined };
}

/** The applications that people log in at. */
export class Clients {
  readonly #storage: () => StorageView;
  readonly #keys: NamedKeys;
  readonly #assignments: Assignments;

  constructor(parts: { storage: () => StorageView; keys: NamedKeys; assignments: Assignments }) {
    this.#storage = parts.storage;
    this.#keys = parts.keys;
    this.#assignments = parts.assignments;
  }

  async get(name: string): Promise<Client | undefined> {
    return oidcRecords(this.#storage()).clients.get(name);
  }

  async entries(): Promise<[name: string, client: Client][]> {
    return oidcRecords(this.#storage()).clients.entries();
  }

  async byId(clientId: string): Promise<Client | undefined> {
    const records = oidcRecords(this.#storage());
    const name = clientId === '' ? undefined : (await records.clientIds.get(digestOf(clientId)))?.name;
    return name === undefined ? undefined : records.clients.get(name);
  }

  /** The client of these credentials. A public one has no secret. Unknown ids and wrong secrets take the same work. */
  async authenticated(clientId: string, secret: string): Promise<Client | undefined> {
    const client = await this.byId(clientId);
    const expected = client?.client_secret ?? `${SECRET_PREFIX}of nobody`;
    const same = timingSafeEqual(createHash('sha256').update(secret).digest(), createHash('sha256').update(expected).digest());
    if (client?.client_type === 'public') return client;
    return same ? client : undefined;
  }

  /** @throws BadRequest */
  async save(name: string, fields: ClientFields): Promise<void> {
    requireShortName(name);
    const assignments = fields.assignments && [...new Set(fields.assignments)];
    const unknown = (await Promise.all((assignments ?? []).map(async (one) => ((await this.#assignments.get(one)) ? '' : one)))).find(
      Boolean,
    );
    if (unknown !== undefined) throw new BadRequest(`assignment ${JSON.stringify(unknown)} does not exist`);
    await this.#keys.begin(fields.key ?? (await this.get(name))?.key ?? DEFAULT_KEY);
    await this.#storage().transaction(async (tx) => {
      const records = oidcRecords(tx);
      const before = await records.clients.get(name);
      const client = clientWith(before, { ...fields, assignments });
      const holder = await records.clientIds.get(digestOf(client.client_id));
      if (holder && holder.name !== name) throw new BadRequest(`the client ${JSON.stringify(holder.name)} has this client_id`);
      const key = await this.#keys.use(records, client.key, 'client', name);
      if (!key) throw new BadRequest(`key ${JSON.stringify(client.key)} does not exist`);
      if (client.id_token_ttl > key.verification_ttl)
        throw new BadRequest("a client's id_token_ttl cannot be greater than the verification_ttl of the key it references");
      await records.clients.put(name, client);
      if (!before) await records.clientIds.put(digestOf(client.client_id), { name });
    });
  }

  /** Unknown ones are no error. */
  async remove(name: string): Promise<void> {
    await this.#storage().transaction(async (tx) => {
      const records = oidcRecords(tx);
      const client = await records.clients.get(name);
      if (!client) return;
      await records.clients.delete(name);
      await records.clientIds.delete(digestOf(client.client_id));
      await this.#keys.disuse(records, client.key, 'client', name);
    });
  }
}

/** The key and the type of a client are fixed. @throws BadRequest */
function clientWith(before: Client | undefined, fields: ClientFields): Client {
  if (before && fields.key !== undefined && fields.key !== before.key) throw new BadRequest('key modification is not allowed');
  if (before && fields.client_type !== undefined && fields.client_type !== before.client_type)
    throw new BadRequest('client_type modification is not allowed');
  const client_type = before?.client_type ?? fields.client_type ?? 'confidential';
  if (client_type !== 'confidential' && client_type !== 'public')
    throw new BadRequest(`invalid client_type ${JSON.stringify(client_type)}: it is confidential or public`);
  return {
    client_id: before?.client_id ?? fields.credentials?.client_id ?? randomBase62(CLIENT_ID_LENGTH),
    ...(client_type === 'public'
      ? {}
      : { client_secret: before?.client_secret ?? fields.credentials?.client_secret ?? SECRET_PREFIX + randomBase62(SECRET_LENGTH) }),
    client_type,
    redirect_uris: [...new Set(fields.redirect_uris ?? before?.redirect_uris ?? [])],
    assignments: [...(fields.assignments ?? before?.assignments ?? [])],
    key: before?.key ?? fields.key ?? DEFAULT_KEY,
    id_token_ttl: fields.id_token_ttl ?? before?.id_token_ttl ?? DAY,
    access_token_ttl: fields.access_token_ttl ?? before?.access_token_ttl ?? DAY,
  };
}

/** Callers choose what they look for: any text makes a key of the store. */
function digestOf(clientId: string): string {
  return createHash('sha256').update(clientId).digest('base64url');
}
