import { BadRequest } from '@strongroom/engine-sdk';
import { pageOf } from '../../kernel/storage/page-of.ts';
import { newEntity } from './entities.ts';
import { checkAliasName, checkMetadata, samePairs, type IdentityChange, type IdentityContext } from './identity-change.ts';
import { findAlias, type AliasName, type Entity, type EntityAlias, type IdentityPage } from './identity-records.ts';

export interface AliasFields {
  readonly name?: string | undefined;
  readonly mountAccessor?: string | undefined;
  /** The entity. */
  readonly canonicalId?: string | undefined;
  readonly customMetadata?: Readonly<Record<string, string>> | undefined;
}

export interface AliasSaved {
  readonly id: string;
  readonly canonicalId: string;
}

/** How login methods know an entity. An entity has at most one alias on a mount. */
export class EntityAliases {
  readonly #context: IdentityContext;

  constructor(context: IdentityContext) {
    this.#context = context;
  }

  async get(id: string): Promise<{ canonicalId: string; alias: EntityAlias } | undefined> {
    const { records } = this.#context;
    const owner = await records.aliasOwners.get(id);
    const entity = owner && (await records.entities.get(owner.owner_id));
    const alias = entity?.aliases.find((one) => one.id === id);
    return owner && alias && { canonicalId: owner.owner_id, alias };
  }

  /** By id. */
  async list(page: IdentityPage): Promise<{ canonicalId: string; alias: EntityAlias }[]> {
    return pageOf(this.#context.records.aliasOwners, page, async (id) => this.get(id));
  }

  /**
   * Creates, or changes what is supplied; with an id that alias, else the one of that mount and name. Without an entity a new one is made. An imported alias
   * is made with its id.
   * @returns undefined when nothing had to change.
   * @throws BadRequest
   */
  async save(id: string | undefined, fields: AliasFields, { imported = false } = {}): Promise<AliasSaved | undefined> {
    if (fields.customMetadata) checkMetadata(fields.customMetadata, 'custom_metadata');
    return this.#context.change(async (change) => {
      if (id !== undefined) {
        const owner = await change.records.aliasOwners.get(id);
        if (!owner && !imported) throw new BadRequest('invalid alias ID provided');
        if (owner) return this.#update(change, owner.owner_id, id, fields);
      }
      const { mountAccessor, name } = fields;
      if (!mountAccessor || !name) throw new BadRequest("'id' or 'mount_accessor' and 'name' must be provided");
      this.#requireMount(mountAccessor);
      const wanted = this.#context.aliasName(mountAccessor, name);
      const known = await findAlias(change.records, wanted);
      if (known && id !== undefined) throw new BadRequest(`the alias ${known.alias_id} has this mount and name`);
      if (known) return this.#update(change, known.owner_id, known.alias_id, fields);
      return this.#create(change, wanted, fields, id);
    });
  }

  /** The entity stays, also without any alias. Unknown ids are no error. */
  async remove(id: string): Promise<void> {
    await this.#context.change(async (change) => {
      const owner = await change.records.aliasOwners.get(id);
      const entity = owner && (await change.records.entities.get(owner.owner_id));
      const alias = entity?.aliases.find((one) => one.id === id);
      if (!owner || !entity || !alias) return;
      await change.unlinkAlias(alias);
      await change.putEntity(owner.owner_id, { ...entity, aliases: entity.aliases.filter((one) => one.id !== id) });
    });
  }

  /** The aliases of one mount, a chunk at a time. Returns false when none were left. */
  async removeSomeOfMount(mountAccessor: string, limit: number): Promise<boolean> {
    const { records } = this.#context;
    const keys = await records.aliasKeys.list({ prefix: `${mountAccessor}/`, limit });
    if (keys.length === 0) {
      await records.indexedMounts.delete(mountAccessor);
      return false;
    }
    await this.#context.change(async (change) => {
      for (const key of keys) {
        const known = await change.records.aliasKeys.get(key);
        if (!known) continue;
        await change.records.aliasKeys.delete(key);
        await change.records.aliasOwners.delete(known.alias_id);
        const entity = await change.records.entities.get(known.owner_id);
        const alias = entity?.aliases.find((one) => one.id === known.alias_id);
        if (!entity || !alias) continue;
        await change.unlinkAlias(alias);
        await change.putEntity(known.owner_id, { ...entity, aliases: entity.aliases.filter((one) => one !== alias) });
      }
    });
    return true;
  }

  /** Notes the variants of a page of aliases that an earlier version stored. Returns where the next page begins; undefined after the last. */
  async noteVariantsOfMount(mountAccessor: string, after: string | undefined, limit: number): Promise<string | undefined> {
    const keys = await this.#context.records.aliasKeys.list({
      prefix: `${mountAccessor}/`,
      limit,
      ...(after === undefined ? {} : { after }),
    });
    await this.#context.change(async (change) => {
      for (const key of keys) {
        const known = await change.records.aliasKeys.get(key);
        const alias = known && (await change.records.entities.get(known.owner_id))?.aliases.find((one) => one.id === known.alias_id);
        if (known && alias) await change.noteVariant(known.owner_id, alias);
      }
      if (keys.length < limit) await change.records.indexedMounts.put(mountAccessor, {});
    });
    return keys.length < limit ? undefined : keys.at(-1);
  }

  #requireMount(accessor: string): void {
    if (!this.#context.mounts.byAccessor(accessor)) throw new BadRequest(`invalid mount accessor ${JSON.stringify(accessor)}`);
  }

  async #create(change: IdentityChange, wanted: AliasName, fields: AliasFields, id: string | undefined): Promise<AliasSaved> {
    const owner = fields.canonicalId || this.#context.newId();
    let entity: Entity | undefined;
    if (fields.canonicalId) {
      entity = await change.records.entities.get(owner);
      if (!entity) throw new BadRequest('invalid canonical ID');
      if (entity.aliases.some((alias) => alias.mount_accessor === wanted.mount_accessor)) {
        throw new BadRequest('Alias already exists for requested entity and mount accessor');
      }
    }
    const alias = newAlias(id ?? this.#context.newId(), wanted, change.now, { custom_metadata: { ...fields.customMetadata } });
    await addAlias(change, this.#context, owner, entity, alias);
    return { id: alias.id, canonicalId: owner };
  }

  async #update(change: IdentityChange, owner: string, id: string, fields: AliasFields): Promise<AliasSaved | undefined> {
    const entity = await change.records.entities.get(owner);
    const alias = entity?.aliases.find((one) => one.id === id);
    if (!entity || !alias) throw new BadRequest('given alias is not associated with an entity');
    const name = fields.name || alias.name;
    const mount_accessor = fields.mountAccessor || alias.mount_accessor;
    const custom_metadata = fields.customMetadata ? { ...fields.customMetadata } : alias.custom_metadata;
    const target = fields.canonicalId || owner;
    const renamed = name !== alias.name || mount_accessor !== alias.mount_accessor;
    if (!renamed && target === owner && samePairs(custom_metadata, alias.custom_metadata)) return undefined;
    this.#requireMount(mount_accessor);
    const wanted = this.#context.aliasName(mount_accessor, name);
    if (renamed) checkAliasName(name);
    const holder = await findAlias(change.records, wanted);
    if (holder && holder.alias_id !== id) throw new BadRequest('alias with combination of mount accessor and name already exists');

    const { exact: _, ...kept } = alias;
    const changed: EntityAlias = { ...kept, ...wanted, custom_metadata, last_update_time: change.now };
    const others = entity.aliases.filter((one) => one.id !== id);
    await change.unlinkAlias(alias);
    await change.linkAlias(target, changed);
    if (target === owner) {
      if (others.some((one) => one.mount_accessor === mount_accessor)) {
        throw new BadRequest("Alias cannot be updated as the entity already has an alias for the given 'mount_accessor'");
      }
      await change.putEntity(owner, { ...entity, aliases: entity.aliases.map((one) => (one.id === id ? changed : one)) });
    } else {
      const receiver = await change.records.entities.get(target);
      if (!receiver) throw new BadRequest("given 'canonical_id' is not associated with an entity");
      if (receiver.aliases.some((one) => one.mount_accessor === mount_accessor)) {
        throw new BadRequest('Alias cannot be updated as the given entity already has an alias for this mount');
      }
      await change.putEntity(owner, { ...entity, aliases: others });
      await change.putEntity(target, { ...receiver, aliases: [...receiver.aliases, changed] });
    }
    return { id, canonicalId: target };
  }
}

/** @throws BadRequest for a name that no alias may have */
export function newAlias(
  id: string,
  name: AliasName,
  now: string,
  metadata: { metadata?: Record<string, string>; custom_metadata?: Record<string, string> },
): EntityAlias {
  checkAliasName(name.name);
  return {
    id,
    ...name,
    metadata: metadata.metadata ?? {},
    custom_metadata: metadata.custom_metadata ?? {},
    merged_from_canonical_ids: [],
    creation_time: now,
    last_update_time: now,
  };
}

/** Gives the alias to the entity, which is made when there is none. */
export async function addAlias(
  change: IdentityChange,
  context: Pick<IdentityContext, 'newId'>,
  owner: string,
  entity: Entity | undefined,
  alias: EntityAlias,
): Promise<Entity> {
  let holder = entity;
  if (!holder) {
    const name = await change.freeName(change.records.entityNames, 'entity', () => context.newId());
    await change.nameEntity(owner, name);
    holder = { ...newEntity(change.now), name };
  }
  await change.linkAlias(owner, alias);
  const saved = { ...holder, aliases: [...holder.aliases, alias] };
  await change.putEntity(owner, saved);
  return saved;
}
