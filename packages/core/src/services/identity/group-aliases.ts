import { BadRequest } from '@strongroom/engine-sdk';
import { pageOf } from '../../kernel/storage/page-of.ts';
import type { AliasFields, AliasSaved } from './entity-aliases.ts';
import { newGroup, type Groups } from './groups.ts';
import type { IdentityChange, IdentityContext } from './identity-change.ts';
import { aliasKey, findGroupAlias, type Group, type GroupAlias, type IdentityPage } from './identity-records.ts';

/** Which group of an outside directory an external group stands for. A group has at most one. */
export class GroupAliases {
  readonly #context: IdentityContext;
  readonly #groups: Groups;

  constructor(context: IdentityContext, groups: Groups) {
    this.#context = context;
    this.#groups = groups;
  }

  async get(id: string): Promise<{ canonicalId: string; alias: GroupAlias } | undefined> {
    const { records } = this.#context;
    const owner = await records.groupAliasOwners.get(id);
    const alias = owner && (await records.groups.get(owner.owner_id))?.alias;
    return owner && alias?.id === id ? { canonicalId: owner.owner_id, alias } : undefined;
  }

  /** By id. */
  async list(page: IdentityPage): Promise<{ canonicalId: string; alias: GroupAlias }[]> {
    return pageOf(this.#context.records.groupAliasOwners, page, async (id) => this.get(id));
  }

  /**
   * Creates, or changes the alias of that id. Without a group a new external one is made.
   * A change of name, mount or group ends the memberships that the alias gave; the next logins give new ones.
   * @returns undefined when nothing had to change.
   * @throws BadRequest
   */
  async save(
    id: string | undefined,
    fields: Omit<AliasFields, 'customMetadata'>,
    { imported = false } = {},
  ): Promise<AliasSaved | undefined> {
    const saved = await this.#context.change(async (change) => {
      const owner = id === undefined ? undefined : await change.records.groupAliasOwners.get(id);
      const before = owner && (await change.records.groups.get(owner.owner_id));
      if (id !== undefined && (!owner || before?.alias?.id !== id) && !imported) throw new BadRequest('invalid group alias ID');
      const { name, mountAccessor } = fields;
      if (!name) throw new BadRequest('missing alias name');
      if (!mountAccessor) throw new BadRequest('missing mount_accessor');
      const target = fields.canonicalId || owner?.owner_id;
      const alias = before?.alias;
      if (alias && alias.name === name && alias.mount_accessor === mountAccessor && target === owner?.owner_id) return undefined;
      const receiver = await this.#receiver(change, target);
      if (!this.#context.mounts.byAccessor(mountAccessor)) throw new BadRequest(`invalid mount accessor ${JSON.stringify(mountAccessor)}`);
      const wanted = this.#context.aliasName(mountAccessor, name);
      const holder = await findGroupAlias(change.records, wanted);
      if (holder && holder.alias_id !== alias?.id) throw new BadRequest('combination of mount and group alias name is already in use');

      const replaced = receiver.group.alias;
      if (replaced && replaced.id !== alias?.id) await unlink(change, replaced);
      if (alias) await unlink(change, alias);
      if (before && owner && owner.owner_id !== receiver.id) await change.putGroup(owner.owner_id, withoutAlias(before));
      const sameOutsideGroup = alias !== undefined && aliasKey(alias) === aliasKey(wanted) && owner?.owner_id === receiver.id;
      const changed: GroupAlias = {
        id: alias?.id ?? id ?? this.#context.newId(),
        ...wanted,
        grant: sameOutsideGroup ? alias.grant : this.#context.newId(),
        creation_time: alias?.creation_time ?? change.now,
        last_update_time: change.now,
      };
      await change.records.groupAliasKeys.put(aliasKey(changed), { owner_id: receiver.id, alias_id: changed.id });
      await change.records.groupAliasOwners.put(changed.id, { owner_id: receiver.id });
      await change.putGroup(receiver.id, { ...receiver.group, alias: changed });
      return { id: changed.id, canonicalId: receiver.id, ended: [owner?.owner_id, receiver.id] };
    });
    for (const group of new Set(saved?.ended)) if (group !== undefined) await this.#groups.clearMemberships(group);
    return saved && { id: saved.id, canonicalId: saved.canonicalId };
  }

  /** Ends the memberships it gave; the group stays. Unknown ids are no error. */
  async remove(id: string): Promise<void> {
    const owner = await this.#context.change(async (change) => {
      const found = await change.records.groupAliasOwners.get(id);
      const group = found && (await change.records.groups.get(found.owner_id));
      if (!found || group?.alias?.id !== id) return undefined;
      await unlink(change, group.alias);
      await change.putGroup(found.owner_id, withoutAlias(group));
      return found.owner_id;
    });
    if (owner !== undefined) await this.#groups.clearMemberships(owner);
  }

  async removeOfMount(mountAccessor: string): Promise<void> {
    for (const [, known] of await this.#context.records.groupAliasKeys.entries({ prefix: `${mountAccessor}/` }))
      await this.remove(known.alias_id);
  }

  async #receiver(change: IdentityChange, target: string | undefined): Promise<{ id: string; group: Group }> {
    if (target === undefined) {
      const id = this.#context.newId();
      const name = await change.freeName(change.records.groupNames, 'group', this.#context.newId);
      await change.nameGroup(id, name);
      return { id, group: { ...newGroup('external', change.now), name } };
    }
    const group = await change.records.groups.get(target);
    if (!group) throw new BadRequest("invalid group ID given in 'canonical_id'");
    if (group.type !== 'external') throw new BadRequest("alias can't be set on an internal group");
    return { id: target, group };
  }
}

async function unlink(change: IdentityChange, alias: GroupAlias): Promise<void> {
  await change.records.groupAliasKeys.delete(aliasKey(alias));
  await change.records.groupAliasOwners.delete(alias.id);
}

function withoutAlias(group: Group): Group {
  const { alias: _, ...rest } = group;
  return rest;
}
