import { BadRequest, listed } from '@strongroom/engine-sdk';
import type { IdentityChange, IdentityMounts } from './identity-change.ts';
import { memberKey, type Entity, type EntityAlias } from './identity-records.ts';

export interface MergeOrder {
  readonly from: readonly string[];
  readonly to: string;
  /** Of two aliases on one mount, the one named here stays. */
  readonly keep: readonly string[];
  /** Of two MFA secrets for one method, that of `to` stays. */
  readonly force: boolean;
}

type Known = readonly [id: string, entity: Entity];

/** Two aliases on one mount, of which an entity can have one. */
interface Clash {
  readonly to: Owned;
  readonly from: Owned;
}

interface Owned {
  readonly alias: EntityAlias;
  readonly id: string;
  readonly entity: Entity;
}

/** @throws BadRequest */
export async function mergeEntities(change: IdentityChange, order: MergeOrder, mounts: IdentityMounts): Promise<void> {
  const { to } = order;
  const from = [...new Set(order.from)];
  if (from.length === 0) throw new BadRequest('missing entity ids to merge from');
  if (to === '') throw new BadRequest('missing entity id to merge to');
  if (from.includes(to)) throw new BadRequest('to_entity_id should not be present in from_entity_ids');
  const { entities } = change.records;
  let target = await entities.get(to);
  if (!target) throw new BadRequest('entity id to merge to is invalid');
  const sources: Known[] = [];
  for (const id of from) {
    const source = await entities.get(id);
    if (!source) throw new BadRequest('entity id to merge from is invalid');
    // Its tokens and logins would be good again, as those of the target.
    if (source.disabled && !target.disabled)
      throw new BadRequest(`entity ${JSON.stringify(id)} is disabled and the one to merge to is not: enable it first, or delete it`);
    sources.push([id, source]);
  }
  const dropped = droppedAliases(clashesOf([to, target], sources), { ...order, from }, mounts);
  for (const [id, source] of sources) {
    await moveSecrets(change, id, order);
    await change.deleteEntity(id, source);
    target = await takeIn(change, { to, target, id, source, dropped });
  }
  await change.putEntity(to, target);
}

/** Of each mount, the first entity that has an alias on it against every other. */
function clashesOf(target: Known, sources: readonly Known[]): Clash[] {
  const holders = new Map<string, Owned>();
  const clashes: Clash[] = [];
  for (const [id, entity] of [target, ...sources]) {
    for (const alias of entity.aliases) {
      const holder = holders.get(alias.mount_accessor);
      if (holder) clashes.push({ to: holder, from: { alias, id, entity } });
      else holders.set(alias.mount_accessor, { alias, id, entity });
    }
  }
  return clashes;
}

/** Ids of the aliases that do not stay. @throws BadRequest where the order does not say which do */
function droppedAliases(clashes: readonly Clash[], { to, from, keep }: MergeOrder, mounts: IdentityMounts): ReadonlySet<string> {
  if (clashes.length > 0 && (keep.length === 0 || from.length > 1)) throw undecided(clashes, to, mounts);
  return new Set(
    clashes.map(({ to: own, from: theirs }) => {
      const [keepsOwn, keepsTheirs] = [keep.includes(own.alias.id), keep.includes(theirs.alias.id)];
      const ids = `${theirs.alias.id}, ${own.alias.id}`;
      if (keepsOwn && keepsTheirs)
        throw new BadRequest(
          `conflicting mount accessors in following alias IDs and both were present in conflicting_alias_ids_to_keep: ${ids}`,
        );
      if (!keepsOwn && !keepsTheirs)
        throw new BadRequest(
          `conflicting mount accessors in following alias IDs and neither were present in conflicting_alias_ids_to_keep: ${ids}`,
        );
      return keepsOwn ? theirs.alias.id : own.alias.id;
    }),
  );
}

function undecided(clashes: readonly Clash[], to: string, mounts: IdentityMounts): BadRequest {
  const texts = clashes.map(
    ({ to: own, from }) =>
      `mountAccessor: ${own.alias.mount_accessor}, toEntity ID: ${to}, fromEntity ID: ${from.id}, ` +
      `conflicting toEntity alias ID: ${own.alias.id}, conflicting fromEntity alias ID: ${from.alias.id}`,
  );
  const both = new Map(clashes.flatMap(({ to: own, from }) => [own, from].map((owned) => [owned.alias.id, owned] as const)));
  const data = [...both.values()].map(({ alias, id, entity }) => {
    const mount = mounts.byAccessor(alias.mount_accessor);
    return { alias: alias.name, entity: entity.name, entity_id: id, mount: mount?.type ?? '', mount_path: mount?.path ?? '' };
  });
  const head =
    'toEntity and at least one fromEntity have aliases with the same mount accessor, repeat the merge request specifying exactly one fromEntity, clashes: ';
  return new BadRequest(listed(head, ...texts), { data });
}

/** @throws BadRequest where both have a secret for one method and the order does not force that of `to` */
async function moveSecrets({ records }: IdentityChange, id: string, { to, force }: MergeOrder): Promise<void> {
  const theirs = (await records.mfaSecrets.get(id))?.secrets ?? [];
  const own = (await records.mfaSecrets.get(to))?.secrets ?? [];
  const methods = new Set(own.map(({ method_id }) => method_id));
  const moved = theirs.filter(({ method_id }) => {
    if (!methods.has(method_id)) return true;
    if (!force) throw new BadRequest(`conflicting MFA config ID ${JSON.stringify(method_id)} in entity ID ${JSON.stringify(id)}`);
    return false;
  });
  if (moved.length > 0) await records.mfaSecrets.put(to, { secrets: [...own, ...moved] });
}

/** Gives the target what was the source's, which is gone by now. */
async function takeIn(
  change: IdentityChange,
  { to, target, id, source, dropped }: { to: string; target: Entity; id: string; source: Entity; dropped: ReadonlySet<string> },
): Promise<Entity> {
  const { members } = change.records;
  for (const alias of target.aliases) if (dropped.has(alias.id)) await change.unlinkAlias(alias);
  const moved = source.aliases
    .filter((alias) => !dropped.has(alias.id))
    .map((alias) => ({ ...alias, merged_from_canonical_ids: [...alias.merged_from_canonical_ids, id], last_update_time: change.now }));
  for (const alias of moved) await change.linkAlias(to, alias);
  for (const former of [id, ...source.merged_entity_ids]) await change.putMerged(former, to);
  for (const group of source.group_ids) await members.put(memberKey(group, to), { grant: '' });
  // What a dropped alias had joined must not outlive it; the next login of the others joins again.
  const joined = (entity: Entity) => (entity.aliases.some((alias) => dropped.has(alias.id)) ? {} : entity.external_groups);
  const external_groups = { ...joined(source), ...joined(target) };
  for (const group of Object.keys(target.external_groups))
    if (!Object.hasOwn(external_groups, group)) await members.delete(memberKey(group, to));
  for (const [group, grant] of Object.entries(external_groups)) await members.put(memberKey(group, to), { grant });
  return {
    ...target,
    aliases: [...target.aliases.filter((alias) => !dropped.has(alias.id)), ...moved],
    group_ids: [...new Set([...target.group_ids, ...source.group_ids])],
    external_groups,
    merged_entity_ids: [...target.merged_entity_ids, id, ...source.merged_entity_ids],
  };
}
