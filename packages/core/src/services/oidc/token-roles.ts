import { BadRequest, type StorageView } from '@strongroom/engine-sdk';
import { randomBase62 } from '../../kernel/random/random-base62.ts';
import { claimsTemplate, plainTemplate } from './claims-template.ts';
import type { NamedKeys } from './named-keys.ts';
import { oidcRecords, requireShortName, type OidcRecords, type TokenRole } from './oidc-records.ts';

const CLIENT_ID_LENGTH = 26;
const DAY = 86_400;

/** A write; undefined is "not sent". */
export interface RoleFields {
  readonly key?: string | undefined;
  readonly template?: string | undefined;
  readonly ttl?: number | undefined;
  readonly client_id?: string | undefined;
}

/** The roles by which callers ask for identity tokens. */
export class IdentityTokenRoles {
  readonly #storage: () => StorageView;
  readonly #keys: NamedKeys;

  constructor(parts: { storage: () => StorageView; keys: NamedKeys }) {
    this.#storage = parts.storage;
    this.#keys = parts.keys;
  }

  get records(): OidcRecords['roles'] {
    return oidcRecords(this.#storage()).roles;
  }

  async get(name: string): Promise<TokenRole | undefined> {
    return this.records.get(name);
  }

  /** @throws BadRequest */
  async save(name: string, fields: RoleFields): Promise<void> {
    requireShortName(name);
    const wanted = fields.key ?? (await this.get(name))?.key;
    if (!wanted) throw new BadRequest('the key parameter is required');
    const template = fields.template === undefined ? undefined : plainTemplate(fields.template);
    if (template !== undefined) claimsTemplate(template);
    await this.#keys.begin(wanted);
    await this.#storage().transaction(async (tx) => {
      const records = oidcRecords(tx);
      const before = await records.roles.get(name);
      const key = fields.key ?? before?.key ?? wanted;
      const used = await this.#keys.use(records, key, 'role', name);
      if (!used) throw new BadRequest(`cannot find key ${JSON.stringify(key)}`);
      if (before && before.key !== key) await this.#keys.leave(records, before.key, name, before.ttl);
      const ttl = fields.ttl ?? before?.ttl ?? DAY;
      if (ttl > used.verification_ttl)
        throw new BadRequest("a role's token ttl cannot be longer than the verification_ttl of the key it references");
      const client_id = (fields.client_id ?? before?.client_id) || randomBase62(CLIENT_ID_LENGTH);
      await records.roles.put(name, { key, template: template ?? before?.template ?? '', ttl, client_id });
    });
  }

  /** Unknown ones are no error. */
  async remove(name: string): Promise<void> {
    await this.#storage().transaction(async (tx) => {
      const records = oidcRecords(tx);
      const role = await records.roles.get(name);
      if (!role) return;
      await records.roles.delete(name);
      await this.#keys.disuse(records, role.key, 'role', name);
    });
  }
}
