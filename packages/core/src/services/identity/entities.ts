import { BadRequest } from '@strongroom/engine-sdk';
import { checkMetadata, policyNames, type IdentityChange, type IdentityContext } from './identity-change.ts';
import { ancestorsOf, directGroups, findAlias, folded, memberKey, type Entity, type Group } from './identity-records.ts';

export interface EntityFields {
  readonly name?: string | undefined;
  readonly policies?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly disabled?: boolean | undefined;
}

export interface MergeOrder {
  readonly from: readonly string[];
  readonly to: string;
  /** Of two aliases on one mount, the one named here stays. */
  readonly keep: readonly string[];
}

/** An entity with the groups it is in, by itself and through other groups. */
export interface EntityView {
  readonly id: string;
  readonly entity: Entity;
  readonly direct: ReadonlyMap<string, Group>;
  readonly inherited: ReadonlyMap<string, Group>;
}

/** How many entities one transaction removes. */
const CHUNK = 64;

/** People and machines, each known to any number of login methods. */
export class Entities {
  readonly #context: IdentityContext;

  constructor(context: IdentityContext) {
    this.#context = context;
  }

  async view(id: string): Promise<EntityView | undefined> {
    const { records } = this.#context;
    const entity = await records.entities.get(id);
    if (!entity) return undefined;
    const direct = await directGroups(records, entity);
    return { id, entity, direct, inherited: await ancestorsOf(records, direct) };
  }

  async idOfName(name: string): Promise<string | undefined> {
    return (await this.#context.records.entityNames.get(folded(name)))?.id;
  }

  async idOfAlias(aliasId: string): Promise<string | undefined> {
    return (await this.#context.records.aliasOwners.get(aliasId))?.owner_id;
  }

  async idOfLogin(mountAccessor: string, aliasName: string): Promise<string | undefined> {
    return (await findAlias(this.#context.records, this.#context.aliasName(mountAccessor, aliasName)))?.owner_id;
  }

  async list(): Promise<[id: string, entity: Entity][]> {
    return this.#context.records.entities.entries();
  }

  async names(): Promise<string[]> {
    return (await this.#context.records.entityNames.entries()).map(([, { name }]) => name);
  }

  /**
   * Creates, or changes what is supplied. The id, where given, must exist; without one the name says which.
   * @throws BadRequest
   */
  async save(id: string | undefined, fields: EntityFields): Promise<{ id: string; name: string; created: boolean }> {
    const policies = fields.policies && policyNames(fields.policies);
    if (fields.metadata) checkMetadata(fields.metadata, 'metadata');
    return this.#context.change(async (change) => {
      const { records } = change;
      const known = id ?? (fields.name === undefined ? undefined : (await records.entityNames.get(folded(fields.name)))?.id);
      const stored = known === undefined ? undefined : await records.entities.get(known);
      if (id !== undefined && !stored) throw new BadRequest('entity not found from id');
      const saved = known ?? this.#context.newId();
      const before = stored ?? newEntity(change.now);
      const name = fields.name ?? (stored ? before.name : await change.freeName(records.entityNames, 'entity', this.#context.newId));
      if (!stored || name !== before.name) await change.nameEntity(saved, name, stored?.name);
      await change.putEntity(saved, {
        ...before,
        name,
        policies: policies ?? before.policies,
        metadata: fields.metadata ?? before.metadata,
        disabled: fields.disabled ?? before.disabled,
      });
      return { id: saved, name, created: !stored };
    });
  }

  /** Unknown ids are no error. */
  async remove(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += CHUNK) {
      const chunk = new Set(ids.slice(at, at + CHUNK));
      await this.#context.change(async (change) => {
        for (const id of chunk) {
          const entity = await change.records.entities.get(id);
          if (entity) await change.deleteEntity(id, entity);
        }
      });
    }
  }

  /**
   * The entities of `from` end; their aliases and memberships go to `to`, and tokens of theirs count as its own.
   * Policies of theirs do not.
   * @throws BadRequest
   */
  async merge(order: MergeOrder): Promise<void> {
    const from = [...new Set(order.from)];
    if (from.length === 0) throw new BadRequest('missing entity ids to merge from');
    if (order.to === '') throw new BadRequest('missing entity id to merge to');
    if (from.includes(order.to)) throw new BadRequest('to_entity_id should not be present in from_entity_ids');
    await this.#context.change(async (change) => {
      let target = await change.records.entities.get(order.to);
      if (!target) throw new BadRequest('entity id to merge to is invalid');
      for (const id of from) {
        const source = await change.records.entities.get(id);
        if (!source) throw new BadRequest('entity id to merge from is invalid');
        target = await takeIn(change, order, target, id, source);
      }
      await change.putEntity(order.to, target);
    });
  }
}

async function takeIn(change: IdentityChange, order: MergeOrder, target: Entity, id: string, source: Entity): Promise<Entity> {
  await change.deleteEntity(id, source);
  const aliases = [...target.aliases];
  let dropped = false;
  for (const alias of source.aliases) {
    const clash = aliases.findIndex((other) => other.mount_accessor === alias.mount_accessor);
    if (clash >= 0) {
      const kept = aliases[clash]!;
      const keepsOwn = order.keep.includes(kept.id);
      if (keepsOwn === order.keep.includes(alias.id)) {
        throw new BadRequest(
          'toEntity and at least one fromEntity have aliases with the same mount accessor, repeat the merge request ' +
            `specifying exactly one of them in conflicting_alias_ids_to_keep, clashes: ${kept.id}, ${alias.id}`,
        );
      }
      if (keepsOwn) {
        dropped = true;
        continue;
      }
      await change.unlinkAlias(kept);
      aliases.splice(clash, 1);
    }
    const moved = { ...alias, merged_from_canonical_ids: [...alias.merged_from_canonical_ids, id], last_update_time: change.now };
    await change.linkAlias(order.to, moved);
    aliases.push(moved);
  }
  for (const former of [id, ...source.merged_entity_ids]) await change.putMerged(former, order.to);
  const group_ids = [...new Set([...target.group_ids, ...source.group_ids])];
  for (const group of source.group_ids) await change.records.members.put(memberKey(group, order.to), { grant: '' });
  // What a dropped alias had joined must not outlive it; the next login of the others joins again.
  const external_groups = { ...(dropped ? {} : source.external_groups), ...target.external_groups };
  for (const [group, grant] of Object.entries(external_groups)) await change.records.members.put(memberKey(group, order.to), { grant });
  return {
    ...target,
    aliases,
    group_ids,
    external_groups,
    merged_entity_ids: [...target.merged_entity_ids, id, ...source.merged_entity_ids],
  };
}

export function newEntity(now: string): Entity {
  return {
    name: '',
    policies: [],
    metadata: {},
    disabled: false,
    merged_entity_ids: [],
    aliases: [],
    group_ids: [],
    external_groups: {},
    creation_time: now,
    last_update_time: now,
  };
}
