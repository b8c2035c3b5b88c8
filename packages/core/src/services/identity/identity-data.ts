import { slicePage, Timestamp, type Answered, type Page } from '@strongroom/engine-sdk';
import { Type, type Static, type TSchema, type TObject } from 'typebox';
import type { EntityView } from './entities.ts';
import type { GroupView } from './groups.ts';
import type { IdentityMounts } from './identity-change.ts';
import type { MfaSecret } from './mfa-secrets.ts';
import type { Entity, EntityAlias, GroupAlias } from './identity-records.ts';

// The shapes of the wire. Where there is nothing, clients know null.

const Pairs = Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]);
const Texts = Type.Union([Type.Array(Type.String()), Type.Null()]);
const Mounted = { mount_path: Type.Optional(Type.String()), mount_type: Type.Optional(Type.String()) };
const AliasInfo = Type.Object({ id: Type.String(), mount_accessor: Type.String(), ...Mounted, name: Type.String() });
const aliasTimes = { creation_time: Timestamp, id: Type.String(), last_update_time: Timestamp };

const entityAlias = {
  canonical_id: Type.String({ description: 'Id of the entity.' }),
  ...aliasTimes,
  custom_metadata: Pairs,
  local: Type.Boolean(),
  merged_from_canonical_ids: Texts,
  metadata: Pairs,
  mount_accessor: Type.String(),
  ...Mounted,
  name: Type.String(),
};
export const EntityAliasData = Type.Object(entityAlias);
export const ReadEntityAlias = Type.Object({ ...entityAlias, namespace_id: Type.String() });
export const EntityAliasInfo = Type.Object({
  canonical_id: Type.String(),
  custom_metadata: Pairs,
  local: Type.Boolean(),
  metadata: Pairs,
  mount_accessor: Type.String(),
  ...Mounted,
  name: Type.String(),
});

const MfaSecretData = Type.Object({
  type: Type.Literal('totp'),
  issuer: Type.String(),
  algorithm: Type.String(),
  digits: Type.Integer(),
  period: Type.Integer({ description: 'Seconds.' }),
  creation_time: Timestamp,
  paused_until: Type.Union([Timestamp, Type.Null()], { description: 'After too many wrong codes.' }),
});

export const EntityData = Type.Object(
  {
    aliases: Type.Array(EntityAliasData),
    creation_time: Timestamp,
    direct_group_ids: Type.Array(Type.String()),
    disabled: Type.Boolean(),
    group_ids: Type.Array(Type.String()),
    id: Type.String(),
    inherited_group_ids: Type.Array(Type.String()),
    last_update_time: Timestamp,
    merged_entity_ids: Texts,
    metadata: Pairs,
    mfa_secrets: Type.Record(Type.String(), MfaSecretData, { description: 'By method.' }),
    name: Type.String(),
    namespace_id: Type.String(),
    policies: Type.Array(Type.String()),
  },
  { title: 'Entity' },
);
export const EntityInfo = Type.Object({ aliases: Type.Optional(Type.Array(AliasInfo)), name: Type.String() });

const groupAlias = {
  canonical_id: Type.String({ description: 'Id of the group.' }),
  ...aliasTimes,
  merged_from_canonical_ids: Type.Null(),
  metadata: Type.Null(),
  mount_accessor: Type.String(),
  ...Mounted,
  name: Type.String(),
};
const GroupAliasData = Type.Object(groupAlias);
export const ReadGroupAlias = Type.Object({ ...groupAlias, namespace_id: Type.String() });
export const GroupAliasInfo = Type.Object({ canonical_id: Type.String(), mount_accessor: Type.String(), ...Mounted, name: Type.String() });

export const GroupData = Type.Object(
  {
    alias: Type.Partial(GroupAliasData, { description: 'Empty without one.' }),
    creation_time: Timestamp,
    id: Type.String(),
    last_update_time: Timestamp,
    member_entity_ids: Texts,
    member_group_ids: Texts,
    metadata: Pairs,
    modify_index: Type.Integer(),
    name: Type.String(),
    namespace_id: Type.String(),
    parent_group_ids: Texts,
    policies: Texts,
    type: Type.Union([Type.Literal('internal'), Type.Literal('external')]),
  },
  { title: 'Group' },
);
export const GroupInfo = Type.Object({
  alias: Type.Optional(AliasInfo),
  name: Type.String(),
  num_member_entities: Type.Integer(),
  num_parent_groups: Type.Integer(),
});

/** The answer of a list that tells more than names: `key_info`, by key. */
export function listedWith<I extends TSchema>(info: I) {
  return Type.Object({ keys: Type.Array(Type.String()), key_info: Type.Record(Type.String(), info) });
}

/** What a function of this file returns for a shape. */
type Shape<S extends TObject> = Answered<Static<S>>;

type Pairs = Readonly<Record<string, string>>;

function pairsOrNull(pairs: Pairs): Pairs | null {
  return Object.keys(pairs).length === 0 ? null : pairs;
}

function listOrNull(items: readonly string[]): readonly string[] | null {
  return items.length === 0 ? null : items;
}

/** Absent once the mount is gone. */
function mountOf(mounts: IdentityMounts, accessor: string): { mount_path?: string; mount_type?: string } {
  const mount = mounts.byAccessor(accessor);
  return mount ? { mount_path: mount.path, mount_type: mount.type } : {};
}

export function entityAliasData(mounts: IdentityMounts, canonicalId: string, alias: EntityAlias): Shape<typeof EntityAliasData> {
  return {
    canonical_id: canonicalId,
    creation_time: alias.creation_time,
    custom_metadata: pairsOrNull(alias.custom_metadata),
    id: alias.id,
    last_update_time: alias.last_update_time,
    local: false,
    merged_from_canonical_ids: listOrNull(alias.merged_from_canonical_ids),
    metadata: pairsOrNull(alias.metadata),
    mount_accessor: alias.mount_accessor,
    ...mountOf(mounts, alias.mount_accessor),
    name: alias.name,
  };
}

export function entityAliasInfo(mounts: IdentityMounts, canonicalId: string, alias: EntityAlias): Shape<typeof EntityAliasInfo> {
  const { custom_metadata, local, metadata, mount_accessor, name } = entityAliasData(mounts, canonicalId, alias);
  return { canonical_id: canonicalId, custom_metadata, local, metadata, mount_accessor, ...mountOf(mounts, alias.mount_accessor), name };
}

export function entityData(mounts: IdentityMounts, view: EntityView): Shape<typeof EntityData> {
  const { id, entity } = view;
  const direct = [...view.direct.keys()];
  const inherited = [...view.inherited.keys()];
  return {
    aliases: entity.aliases.map((alias) => entityAliasData(mounts, id, alias)),
    creation_time: entity.creation_time,
    direct_group_ids: direct,
    disabled: entity.disabled,
    group_ids: [...direct, ...inherited],
    id,
    inherited_group_ids: inherited,
    last_update_time: entity.last_update_time,
    merged_entity_ids: listOrNull(entity.merged_entity_ids),
    metadata: pairsOrNull(entity.metadata),
    mfa_secrets: Object.fromEntries(view.mfaSecrets.map((secret) => [secret.method_id, mfaSecretData(secret)])),
    name: entity.name,
    namespace_id: 'root',
    policies: entity.policies,
  };
}

/** Which authenticator the entity has, without what it holds. */
function mfaSecretData({ issuer, algorithm, digits, period, created, paused_until }: MfaSecret): Shape<typeof MfaSecretData> {
  return {
    ...{ type: 'totp' as const, issuer, algorithm, digits, period },
    creation_time: new Date(created).toISOString(),
    paused_until: paused_until === undefined ? null : new Date(paused_until).toISOString(),
  };
}

export function entityInfo(mounts: IdentityMounts, entity: Entity): Shape<typeof EntityInfo> {
  if (entity.aliases.length === 0) return { name: entity.name };
  return { aliases: entity.aliases.map((alias) => aliasInfo(mounts, alias)), name: entity.name };
}

export function groupAliasData(mounts: IdentityMounts, canonicalId: string, alias: GroupAlias): Shape<typeof GroupAliasData> {
  return {
    canonical_id: canonicalId,
    creation_time: alias.creation_time,
    id: alias.id,
    last_update_time: alias.last_update_time,
    merged_from_canonical_ids: null,
    metadata: null,
    mount_accessor: alias.mount_accessor,
    ...mountOf(mounts, alias.mount_accessor),
    name: alias.name,
  };
}

export function groupAliasInfo(mounts: IdentityMounts, canonicalId: string, alias: GroupAlias): Shape<typeof GroupAliasInfo> {
  return {
    canonical_id: canonicalId,
    mount_accessor: alias.mount_accessor,
    ...mountOf(mounts, alias.mount_accessor),
    name: alias.name,
  };
}

export function groupData(mounts: IdentityMounts, view: GroupView): Shape<typeof GroupData> {
  const { id, group } = view;
  return {
    alias: group.alias ? groupAliasData(mounts, id, group.alias) : {},
    creation_time: group.creation_time,
    id,
    last_update_time: group.last_update_time,
    member_entity_ids: listOrNull(view.memberEntityIds),
    member_group_ids: listOrNull(group.member_group_ids),
    metadata: pairsOrNull(group.metadata),
    modify_index: group.modify_index,
    name: group.name,
    namespace_id: 'root',
    parent_group_ids: listOrNull(group.parent_group_ids),
    policies: listOrNull(group.policies),
    type: group.type,
  };
}

export function groupInfo(mounts: IdentityMounts, view: GroupView): Shape<typeof GroupInfo> {
  const { alias, name, parent_group_ids } = view.group;
  return {
    ...(alias ? { alias: aliasInfo(mounts, alias) } : {}),
    name,
    num_member_entities: view.memberEntityIds.length,
    num_parent_groups: parent_group_ids.length,
  };
}

function aliasInfo(mounts: IdentityMounts, alias: EntityAlias | GroupAlias): Shape<typeof AliasInfo> {
  return { id: alias.id, mount_accessor: alias.mount_accessor, ...mountOf(mounts, alias.mount_accessor), name: alias.name };
}

/** The answer of a list; undefined, which is a 404, when there is nothing. */
export function listing<I>(
  entries: readonly (readonly [key: string, info: I])[],
): { data: { keys: string[]; key_info: Record<string, I> } } | undefined {
  return entries.length === 0 ? undefined : { data: { keys: entries.map(([key]) => key), key_info: Object.fromEntries(entries) } };
}

/** The same for a page of entries in memory, which are sorted by their keys. */
export function slicedListing<I>(all: readonly (readonly [key: string, info: I])[], page: Page): ReturnType<typeof listing<I>> {
  return listing(slicePage(all, page, ([key]) => key));
}
