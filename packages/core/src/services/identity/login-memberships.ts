import { aliasKey, findGroupAlias, memberKey, type AliasName, type Entity, type IdentityRecords } from './identity-records.ts';

/** What a login or renewal makes of the external groups of an entity. */
export interface Memberships {
  /** The entity's `external_groups` from now on. */
  readonly external: Record<string, string>;
  /** Group ids with their grants: new ones, and old ones under a new grant. */
  readonly joined: readonly (readonly [groupId: string, grant: string])[];
  readonly left: readonly string[];
}

/**
 * Compares what an outside directory says with what is stored: the entity is to be in each group that has an alias of that name on
 * that mount, and in no other group of that mount. Groups of other mounts are left as they are; what counts no more goes.
 */
export async function memberships(
  records: Pick<IdentityRecords, 'groups' | 'groupAliasKeys'>,
  entity: Pick<Entity, 'external_groups'>,
  mountAccessor: string,
  outsideGroups: readonly AliasName[],
): Promise<Memberships> {
  const names = new Map(outsideGroups.map((name) => [aliasKey(name), name]));
  const hits = await Promise.all([...names.values()].map((name) => findGroupAlias(records, name)));
  const found = hits.filter((hit) => hit !== undefined);
  const groups = await Promise.all(found.map((hit) => records.groups.get(hit.owner_id)));
  const external: Record<string, string> = {};
  for (const [at, hit] of found.entries()) {
    const alias = groups[at]?.alias;
    if (alias?.id === hit.alias_id) external[hit.owner_id] = alias.grant;
  }
  const joined = Object.entries(external).filter(([id, grant]) => entity.external_groups[id] !== grant);
  const left: string[] = [];
  for (const [id, grant] of Object.entries(entity.external_groups)) {
    if (external[id] !== undefined) continue;
    const alias = (await records.groups.get(id))?.alias;
    if (alias?.grant === grant && alias.mount_accessor !== mountAccessor) external[id] = grant;
    else left.push(id);
  }
  return { external, joined, left };
}

export async function storeMemberships(records: Pick<IdentityRecords, 'members'>, entityId: string, change: Memberships): Promise<void> {
  for (const [group, grant] of change.joined) await records.members.put(memberKey(group, entityId), { grant });
  for (const group of change.left) await records.members.delete(memberKey(group, entityId));
}
