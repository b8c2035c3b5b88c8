import type { Clock, StorageView } from '@strongroom/engine-sdk';
import { BadRequest } from '@strongroom/engine-sdk';
import { randomUUID } from 'node:crypto';
import {
  aliasKey,
  folded,
  identityRecords,
  hasOneVariant,
  memberKey,
  exactNameKey,
  type AliasName,
  type Entity,
  type EntityAlias,
  type Group,
  type IdentityRecords,
} from './identity-records.ts';

export interface IdentityMount {
  /** As shown to clients: `auth/ldap/`. */
  readonly path: string;
  readonly type: string;
  /** Of an auth method: names that differ in case are different ones. */
  readonly package?: { readonly exactAliases?: boolean } | undefined;
}

/** What identity needs to know of mounts. */
export interface IdentityMounts {
  byAccessor(accessor: string): IdentityMount | undefined;
}

/** What the parts of the identity room share. */
export interface IdentityContext {
  /** Over the store, outside any transaction: for reads. */
  readonly records: IdentityRecords;
  readonly mounts: IdentityMounts;
  newId(): string;
  /** The name by the rule of the mount. */
  aliasName(mountAccessor: string, name: string): AliasName;
  /** Runs `work` in one transaction and drops what the caches hold of the records it wrote. */
  change<T>(work: (change: IdentityChange) => Promise<T>): Promise<T>;
}

export function identityContext(parts: {
  storage: StorageView;
  clock: Clock;
  randomUuid?: () => string;
  mounts: IdentityMounts;
  written: (keys: ReadonlySet<string>) => void;
}): IdentityContext {
  return {
    records: identityRecords(parts.storage),
    mounts: parts.mounts,
    newId: parts.randomUuid ?? randomUUID,
    aliasName: (mount_accessor, name) => {
      const exact = parts.mounts.byAccessor(mount_accessor)?.package?.exactAliases === true;
      return exact ? { mount_accessor, name, exact } : { mount_accessor, name };
    },
    async change(work) {
      const touched = new Set<string>();
      try {
        return await parts.storage.transaction((tx) => work(new IdentityChange(identityRecords(tx), parts.clock.now(), touched)));
      } finally {
        // Also after a failure: a commit whose answer was lost may have happened.
        parts.written(touched);
      }
    },
  };
}

/** Names are keys of the store. */
const LONGEST_NAME = 512;

/** One run of a transaction. Keeps each record and the index entries that lead to it together. */
export class IdentityChange {
  readonly records: IdentityRecords;
  /** RFC 3339. */
  readonly now: string;
  readonly #touched: Set<string>;

  constructor(records: IdentityRecords, now: Date, touched: Set<string>) {
    this.records = records;
    this.now = now.toISOString();
    this.#touched = touched;
  }

  async putEntity(id: string, entity: Entity): Promise<void> {
    this.#touched.add(`entity/${id}`);
    await this.records.entities.put(id, { ...entity, last_update_time: this.now });
  }

  /** @throws BadRequest when another entity has the name. */
  async nameEntity(id: string, name: string, former?: string): Promise<void> {
    checkName(name);
    const holder = await this.records.entityNames.get(folded(name));
    if (holder && holder.id !== id) throw new BadRequest('entity name is already in use');
    if (former !== undefined && folded(former) !== folded(name)) await this.records.entityNames.delete(folded(former));
    await this.records.entityNames.put(folded(name), { id, name });
  }

  /** With its name, aliases, memberships and MFA secrets. */
  async deleteEntity(id: string, entity: Entity): Promise<void> {
    this.#touched.add(`entity/${id}`);
    await this.records.entities.delete(id);
    await this.records.entityNames.delete(folded(entity.name));
    // Read, so that a secret that is being made at the same time is noticed.
    if (await this.records.mfaSecrets.has(id)) await this.records.mfaSecrets.delete(id);
    for (const alias of entity.aliases) await this.unlinkAlias(alias);
    for (const former of entity.merged_entity_ids) await this.deleteMerged(former);
    for (const group of [...entity.group_ids, ...Object.keys(entity.external_groups)])
      await this.records.members.delete(memberKey(group, id));
  }

  async putMerged(former: string, owner: string): Promise<void> {
    this.#touched.add(`merged-entity/${former}`);
    await this.records.merged.put(former, { owner_id: owner });
  }

  async deleteMerged(former: string): Promise<void> {
    this.#touched.add(`merged-entity/${former}`);
    await this.records.merged.delete(former);
  }

  async linkAlias(owner: string, alias: EntityAlias): Promise<void> {
    await this.records.aliasKeys.put(aliasKey(alias), { owner_id: owner, alias_id: alias.id });
    await this.records.aliasOwners.put(alias.id, { owner_id: owner });
    await this.noteVariant(owner, alias);
  }

  /** Lets the alias be found by all variants of its name. */
  async noteVariant(owner: string, { id, mount_accessor, name, exact }: EntityAlias): Promise<void> {
    if (exact || hasOneVariant(name)) return;
    const key = exactNameKey(mount_accessor, name);
    const others = await this.#otherVariants(key, id);
    await this.records.aliasVariants.put(key, { aliases: [...others, { owner_id: owner, alias_id: id }] });
  }

  async unlinkAlias(alias: EntityAlias): Promise<void> {
    await this.records.aliasKeys.delete(aliasKey(alias));
    await this.records.aliasOwners.delete(alias.id);
    if (alias.exact || hasOneVariant(alias.name)) return;
    const key = exactNameKey(alias.mount_accessor, alias.name);
    const aliases = await this.#otherVariants(key, alias.id);
    await (aliases.length > 0 ? this.records.aliasVariants.put(key, { aliases }) : this.records.aliasVariants.delete(key));
  }

  async #otherVariants(key: string, aliasId: string): Promise<{ owner_id: string; alias_id: string }[]> {
    return ((await this.records.aliasVariants.get(key))?.aliases ?? []).filter(({ alias_id }) => alias_id !== aliasId);
  }

  async putGroup(id: string, group: Group): Promise<void> {
    this.#touched.add(`group/${id}`);
    await this.records.groups.put(id, { ...group, modify_index: group.modify_index + 1, last_update_time: this.now });
  }

  async nameGroup(id: string, name: string, former?: string): Promise<void> {
    checkName(name);
    const holder = await this.records.groupNames.get(folded(name));
    if (holder && holder.id !== id) throw new BadRequest('group name is already in use');
    if (former !== undefined && folded(former) !== folded(name)) await this.records.groupNames.delete(folded(former));
    await this.records.groupNames.put(folded(name), { id, name });
  }

  async deleteGroup(id: string): Promise<void> {
    this.#touched.add(`group/${id}`);
    await this.records.groups.delete(id);
  }

  /** `prefix_` and eight digits that are not in use. */
  async freeName(index: IdentityRecords['entityNames'], prefix: string, newId: () => string): Promise<string> {
    for (;;) {
      const name = `${prefix}_${newId().slice(0, 8)}`;
      if (!(await index.has(name))) return name;
    }
  }
}

function checkName(name: string): void {
  if (Buffer.byteLength(name) > LONGEST_NAME) throw new BadRequest(`field "name" is longer than ${LONGEST_NAME} bytes`);
  if (/[\0\p{Surrogate}]/u.test(name)) throw new BadRequest('field "name" holds characters that no name can have');
}

/** @throws BadRequest for a name that would look like another, or like none */
export function checkAliasName(name: string): void {
  if (name === '') throw new BadRequest('missing name in alias');
  if (/[\p{Cc}\p{Cs}]/u.test(name)) throw new BadRequest('the name of an alias must not hold control characters');
  if (/^[\s\p{Z}]|[\s\p{Z}]$/u.test(name)) throw new BadRequest('the name of an alias must not begin or end with a space');
}

/** Lower-cased, trimmed, each once, in the order given. @throws BadRequest for `root`. */
export function policyNames(names: readonly string[]): string[] {
  const policies = [...new Set(names.map((name) => name.trim().toLowerCase()))].filter((name) => name !== '');
  if (policies.includes('root')) throw new BadRequest('policies cannot contain root');
  return policies;
}

const PAIRS = 64;
const KEY_BYTES = 128;
const VALUE_BYTES = 512;

/** @throws BadRequest naming the field. */
export function checkMetadata(metadata: Readonly<Record<string, string>>, field: 'metadata' | 'custom_metadata'): void {
  const pairs = Object.entries(metadata);
  const complain = (problem: string): never => {
    throw new BadRequest(`${field} validation failed: ${problem}`);
  };
  if (pairs.length > PAIRS) complain(`payload must contain at most ${PAIRS} keys, provided ${pairs.length}`);
  for (const [key, value] of pairs) {
    const size = Buffer.byteLength(value);
    if (key === '') complain('length of key is 0 but must be 0 < len(key) <= 128');
    if (Buffer.byteLength(key) > KEY_BYTES) complain(`length of key is ${Buffer.byteLength(key)} but must be 0 < len(key) <= ${KEY_BYTES}`);
    if (size > VALUE_BYTES) complain(`length of value for key ${JSON.stringify(key)} is ${size} but must be at most ${VALUE_BYTES}`);
  }
}

export function samePairs(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}
