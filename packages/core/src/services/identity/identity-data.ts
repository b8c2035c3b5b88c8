import { slicePage, type Page } from '@strongroom/engine-sdk';
import type { EntityView } from './entities.ts';
import type { GroupView } from './groups.ts';
import type { IdentityMounts } from './identity-change.ts';
import type { MfaSecret } from './mfa-secrets.ts';
import type { Entity, EntityAlias, GroupAlias } from './identity-records.ts';

// The shapes of the wire. Where there is nothing, clients know null.

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

export function entityAliasData(mounts: IdentityMounts, canonicalId: string, alias: EntityAlias): Record<string, unknown> {
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

export function entityAliasInfo(mounts: IdentityMounts, canonicalId: string, alias: EntityAlias): Record<string, unknown> {
  const { custom_metadata, local, metadata, mount_accessor, name } = entityAliasData(mounts, canonicalId, alias);
  return { canonical_id: canonicalId, custom_metadata, local, metadata, mount_accessor, ...mountOf(mounts, alias.mount_accessor), name };
}

export function entityData(mounts: IdentityMounts, view: EntityView): Record<string, unknown> {
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
function mfaSecretData({ issuer, algorithm, digits, period, created, paused_until }: MfaSecret): Record<string, unknown> {
  return {
    ...{ type: 'totp', issuer, algorithm, digits, period },
    creation_time: new Date(created).toISOString(),
    paused_until: paused_until === undefined ? null : new Date(paused_until).toISOString(),
  };
}

export function entityInfo(mounts: IdentityMounts, entity: Entity): Record<string, unknown> {
  if (entity.aliases.length === 0) return { name: entity.name };
  return { aliases: entity.aliases.map((alias) => aliasInfo(mounts, alias)), name: entity.name };
}

export function groupAliasData(mounts: IdentityMounts, canonicalId: string, alias: GroupAlias): Record<string, unknown> {
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

export function groupAliasInfo(mounts: IdentityMounts, canonicalId: string, alias: GroupAlias): Record<string, unknown> {
  return {
    canonical_id: canonicalId,
    mount_accessor: alias.mount_accessor,
    ...mountOf(mounts, alias.mount_accessor),
    name: alias.name,
  };
}

export function groupData(mounts: IdentityMounts, view: GroupView): Record<string, unknown> {
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

export function groupInfo(mounts: IdentityMounts, view: GroupView): Record<string, unknown> {
  const { alias, name, parent_group_ids } = view.group;
  return {
    ...(alias ? { alias: aliasInfo(mounts, alias) } : {}),
    name,
    num_member_entities: view.memberEntityIds.length,
    num_parent_groups: parent_group_ids.length,
  };
}

function aliasInfo(mounts: IdentityMounts, alias: EntityAlias | GroupAlias): Record<string, unknown> {
  return { id: alias.id, mount_accessor: alias.mount_accessor, ...mountOf(mounts, alias.mount_accessor), name: alias.name };
}

/** A list's answer; undefined, which is a 404, when there is nothing. */
export function listing(
  all: readonly (readonly [key: string, info: unknown])[],
  page: Page,
): { data: { keys: string[]; key_info: Record<string, unknown> } } | undefined {
  const entries = slicePage(all, page, ([key]) => key);
  return entries.length === 0 ? undefined : { data: { keys: entries.map(([key]) => key), key_info: Object.fromEntries(entries) } };
}
