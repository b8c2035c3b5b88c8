import { foldName, type Collection, type ListQuery, type StorageView } from '@strongroom/engine-sdk';
import { hash } from 'node:crypto';
import { Type, type Static } from 'typebox';
import { MfaSecrets } from './mfa-secrets.ts';

const Texts = Type.Array(Type.String());
const Pairs = Type.Record(Type.String(), Type.String());

/** Who somebody is to one login method. Lives inside its entity; two index records lead to it. */
export const EntityAlias = Type.Object({
  id: Type.String(),
  mount_accessor: Type.String(),
  name: Type.String(),
  /** Set where names that differ in case are different ones: see `AliasName`. */
  exact: Type.Optional(Type.Boolean()),
  metadata: Pairs,
  custom_metadata: Pairs,
  merged_from_canonical_ids: Texts,
  creation_time: Type.String(),
  last_update_time: Type.String(),
});
export type EntityAlias = Static<typeof EntityAlias>;

export const Entity = Type.Object({
  name: Type.String(),
  policies: Texts,
  metadata: Pairs,
  disabled: Type.Boolean(),
  merged_entity_ids: Texts,
  aliases: Type.Array(EntityAlias),
  /** Internal groups, set by operators. */
  group_ids: Texts,
  /** External groups: group id → the grant of the alias that let the entity in. */
  external_groups: Pairs,
  creation_time: Type.String(),
  last_update_time: Type.String(),
});
export type Entity = Static<typeof Entity>;

export const GroupAlias = Type.Object({
  id: Type.String(),
  mount_accessor: Type.String(),
  name: Type.String(),
  exact: Type.Optional(Type.Boolean()),
  /** Drawn again whenever the alias means another outside group; memberships under an earlier grant count no more. */
  grant: Type.String(),
  creation_time: Type.String(),
  last_update_time: Type.String(),
});
export type GroupAlias = Static<typeof GroupAlias>;

export const Group = Type.Object({
  name: Type.String(),
  type: Type.Union([Type.Literal('internal'), Type.Literal('external')]),
  policies: Texts,
  metadata: Pairs,
  parent_group_ids: Texts,
  member_group_ids: Texts,
  alias: Type.Optional(GroupAlias),
  modify_index: Type.Number(),
  creation_time: Type.String(),
  last_update_time: Type.String(),
});
export type Group = Static<typeof Group>;

const NameIndex = Type.Object({ id: Type.String(), name: Type.String() });
const AliasIndex = Type.Object({ owner_id: Type.String(), alias_id: Type.String() });
export type AliasIndex = Static<typeof AliasIndex>;
const AliasIndexes = Type.Object({ aliases: Type.Array(AliasIndex) });
const OwnerIndex = Type.Object({ owner_id: Type.String() });
/** `grant` is '' for a membership that an operator set. */
const Member = Type.Object({ grant: Type.String() });

export interface IdentityRecords {
  readonly entities: Collection<Entity>;
  /** Folded name → entity. */
  readonly entityNames: Collection<Static<typeof NameIndex>>;
  /** `aliasKey` → entity and alias. */
  readonly aliasKeys: Collection<Static<typeof AliasIndex>>;
  /** `exactNameKey` → the aliases whose name is another variant of it: most names are their own one variant, and are not in here. */
  readonly aliasVariants: Collection<Static<typeof AliasIndexes>>;
  /** Accessors of the mounts all of whose aliases `aliasVariants` knows, those of earlier versions too. */
  readonly indexedMounts: Collection<Record<never, never>>;
  /** Alias id → entity. */
  readonly aliasOwners: Collection<Static<typeof OwnerIndex>>;
  /** Id of an entity that was merged away → the entity that took it in. */
  readonly merged: Collection<Static<typeof OwnerIndex>>;
  readonly groups: Collection<Group>;
  readonly groupNames: Collection<Static<typeof NameIndex>>;
  readonly groupAliasKeys: Collection<Static<typeof AliasIndex>>;
  readonly groupAliasOwners: Collection<Static<typeof OwnerIndex>>;
  /** `<group id>/<entity id>`: the members of a group, without making one large record of them. */
  readonly members: Collection<Static<typeof Member>>;
  /** By the entity's id. */
  readonly mfaSecrets: Collection<Static<typeof MfaSecrets>>;
}

/** The collections of the identity room, over the store or over a transaction. */
export function identityRecords(view: Pick<StorageView, 'collection'>): IdentityRecords {
  return {
    entities: view.collection('entity/', Entity, { cached: true }),
    entityNames: view.collection('entity-name/', NameIndex),
    aliasKeys: view.collection('entity-alias-key/', AliasIndex),
    aliasVariants: view.collection('entity-alias-spelling/', AliasIndexes),
    indexedMounts: view.collection('entity-alias-spelled/', Type.Object({})),
    aliasOwners: view.collection('entity-alias/', OwnerIndex),
    merged: view.collection('merged-entity/', OwnerIndex, { cached: true }),
    groups: view.collection('group/', Group, { cached: true }),
    groupNames: view.collection('group-name/', NameIndex),
    groupAliasKeys: view.collection('group-alias-key/', AliasIndex),
    groupAliasOwners: view.collection('group-alias/', OwnerIndex),
    members: view.collection('member/', Member),
    mfaSecrets: view.collection('mfa-secret/', MfaSecrets),
  };
}

/** Names of entities and groups are one name whatever their case, as are aliases on most mounts. */
export function folded(name: string): string {
  return name.toLowerCase();
}

/** Which part of a list is wanted. */
export type IdentityPage = Pick<ListQuery, 'after' | 'limit'>;

/** The same of the records that are kept by folded names. */
export function byName({ after, ...page }: IdentityPage): IdentityPage {
  return { ...page, ...(after === undefined ? {} : { after: folded(after) }) };
}

/** The name of an alias on its mount. With `exact`, names that differ in case are different ones. */
export type AliasName = Pick<EntityAlias, 'mount_accessor' | 'name' | 'exact'>;

/** Names come from outside directories and may be of any length, so the key holds a digest. */
export function aliasKey({ mount_accessor, name, exact }: AliasName): string {
  return exact ? `${mount_accessor}/=${sha256(name)}` : `${mount_accessor}/${sha256(folded(name))}`;
}

/** Where the alias of that name is. One that was stored before the mount's aliases became exact is found by its very name. */
export async function findAlias(
  records: Pick<IdentityRecords, 'aliasKeys' | 'entities'>,
  wanted: AliasName,
): Promise<AliasIndex | undefined> {
  const found = await records.aliasKeys.get(aliasKey(wanted));
  if (found || !wanted.exact) return found;
  const former = await records.aliasKeys.get(aliasKey({ ...wanted, exact: false }));
  const alias = former && (await records.entities.get(former.owner_id))?.aliases.find(({ id }) => id === former.alias_id);
  return alias?.name === wanted.name ? former : undefined;
}

/** As `findAlias`, for groups. */
export async function findGroupAlias(
  records: Pick<IdentityRecords, 'groupAliasKeys' | 'groups'>,
  wanted: AliasName,
): Promise<AliasIndex | undefined> {
  const found = await records.groupAliasKeys.get(aliasKey(wanted));
  if (found || !wanted.exact) return found;
  const former = await records.groupAliasKeys.get(aliasKey({ ...wanted, exact: false }));
  return former && (await records.groups.get(former.owner_id))?.alias?.name === wanted.name ? former : undefined;
}

/** One key for all variants of a name: see `foldName`. */
export function exactNameKey(mountAccessor: string, name: string): string {
  return `${mountAccessor}/${sha256(foldName(name))}`;
}

function sha256(text: string): string {
  return hash('sha256', text);
}

/** Whether `aliasKey` alone leads to the alias from the one variant of its name. */
export function hasOneVariant(name: string): boolean {
  return folded(name) === foldName(name);
}

export function memberKey(groupId: string, entityId: string): string {
  return `${groupId}/${entityId}`;
}

/** The groups an entity is in by itself: those of the record that still stand. */
export async function directGroups(records: Pick<IdentityRecords, 'groups'>, entity: Entity): Promise<Map<string, Group>> {
  const ids = [...entity.group_ids, ...Object.keys(entity.external_groups)];
  const groups = await Promise.all(ids.map((id) => records.groups.get(id)));
  const direct = new Map<string, Group>();
  for (const [at, id] of ids.entries()) {
    const group = groups[at];
    if (group && (at < entity.group_ids.length || group.alias?.grant === entity.external_groups[id])) direct.set(id, group);
  }
  return direct;
}

/** All groups above the given ones. Each is read once, level by level. */
export async function ancestorsOf(
  records: Pick<IdentityRecords, 'groups'>,
  below: ReadonlyMap<string, Group>,
): Promise<Map<string, Group>> {
  const found = new Map<string, Group>();
  let level = [...below.values()];
  while (level.length > 0) {
    const ids = [...new Set(level.flatMap((group) => group.parent_group_ids))].filter((id) => !below.has(id) && !found.has(id));
    const groups = await Promise.all(ids.map((id) => records.groups.get(id)));
    level = [];
    for (const [at, id] of ids.entries()) {
      const group = groups[at];
      if (!group) continue;
      found.set(id, group);
      level.push(group);
    }
  }
  return found;
}
