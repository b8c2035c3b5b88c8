import { BadRequest } from '@strongroom/engine-sdk';
import { pageOf } from '../../kernel/storage/page-of.ts';
import { checkMetadata, policyNames, type IdentityChange, type IdentityContext } from './identity-change.ts';
import {
  aliasKey,
  ancestorsOf,
  byName,
  findGroupAlias,
  folded,
  memberKey,
  type Entity,
  type Group,
  type IdentityPage,
} from './identity-records.ts';

export interface GroupFields {
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  readonly policies?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly memberEntityIds?: readonly string[] | undefined;
  readonly memberGroupIds?: readonly string[] | undefined;
}

/** Which group a write means: that id (made when absent if it is imported), the one of that name (made when absent), or a new one. */
export type GroupTarget = { readonly id: string; readonly imported?: boolean } | { readonly named: string } | 'new';

export interface GroupView {
  readonly id: string;
  readonly group: Group;
  readonly memberEntityIds: readonly string[];
}

/** Memberships that one transaction clears. */
const CHUNK = 64;

/** Sets of entities and of other groups. Internal ones have members that operators name; logins fill the external ones. */
export class Groups {
  readonly #context: IdentityContext;

  constructor(context: IdentityContext) {
    this.#context = context;
  }

  async view(id: string): Promise<GroupView | undefined> {
    const group = await this.#context.records.groups.get(id);
    return group && { id, group, memberEntityIds: await this.#members(id, group) };
  }

  async idOfName(name: string): Promise<string | undefined> {
    return (await this.#context.records.groupNames.get(folded(name)))?.id;
  }

  async idOfAlias(aliasId: string): Promise<string | undefined> {
    return (await this.#context.records.groupAliasOwners.get(aliasId))?.owner_id;
  }

  async idOfOutsideGroup(mountAccessor: string, aliasName: string): Promise<string | undefined> {
    return (await findGroupAlias(this.#context.records, this.#context.aliasName(mountAccessor, aliasName)))?.owner_id;
  }

  /** By id, with the members of each. */
  async list(page: IdentityPage): Promise<GroupView[]> {
    const view = async (id: string, group: Group): Promise<GroupView> => ({ id, group, memberEntityIds: await this.#members(id, group) });
    return pageOf(this.#context.records.groups, page, view);
  }

  /** The same in the order of the names in lower case; `after` is a name in any case. */
  async listByName(page: IdentityPage): Promise<GroupView[]> {
    return pageOf(this.#context.records.groupNames, byName(page), async (_, { id }) => this.view(id));
  }

  /** Changes what is supplied. @throws BadRequest */
  async save(target: GroupTarget, fields: GroupFields): Promise<{ id: string; name: string; created: boolean }> {
    const policies = fields.policies && policyNames(fields.policies);
    if (fields.metadata) checkMetadata(fields.metadata, 'metadata');
    return this.#context.change(async (change) => {
      const { records } = change;
      const known = await knownId(change, target);
      const stored = known === undefined ? undefined : await records.groups.get(known);
      if (target !== 'new' && 'id' in target && !stored && !target.imported) throw new BadRequest('invalid group ID');
      const id = known ?? this.#context.newId();
      const type = groupType(fields.type, stored);
      if (type === 'external') {
        if (fields.memberEntityIds) throw new BadRequest("member entities can't be set manually for external groups");
        if (fields.memberGroupIds) throw new BadRequest("member groups can't be set for external groups");
      }
      const before = stored ?? newGroup(type, change.now);
      const name = fields.name || stored?.name || (await change.freeName(records.groupNames, 'group', this.#context.newId));
      if (!stored || name !== before.name) await change.nameGroup(id, name, stored?.name);
      if (fields.memberEntityIds) await setMembers(change, id, new Set(fields.memberEntityIds));
      const memberGroups = fields.memberGroupIds && [...new Set(fields.memberGroupIds)];
      if (memberGroups) await setMemberGroups(change, id, before, memberGroups);
      await change.putGroup(id, {
        ...before,
        name,
        policies: policies ?? before.policies,
        metadata: fields.metadata ?? before.metadata,
        member_group_ids: memberGroups ?? before.member_group_ids,
      });
      return { id, name, created: !stored };
    });
  }

  /** Unknown ids are no error. The group ends at once; what is left of its memberships counts for nothing and is cleared after. */
  async remove(id: string): Promise<void> {
    const found = await this.#context.change(async (change) => {
      const group = await change.records.groups.get(id);
      if (!group) return false;
      await change.deleteGroup(id);
      await change.records.groupNames.delete(folded(group.name));
      if (group.alias) {
        await change.records.groupAliasKeys.delete(aliasKey(group.alias));
        await change.records.groupAliasOwners.delete(group.alias.id);
      }
      for (const other of group.parent_group_ids) {
        const parent = await change.records.groups.get(other);
        if (parent) await change.putGroup(other, { ...parent, member_group_ids: without(parent.member_group_ids, id) });
      }
      for (const other of group.member_group_ids) {
        const member = await change.records.groups.get(other);
        if (member) await change.putGroup(other, { ...member, parent_group_ids: without(member.parent_group_ids, id) });
      }
      return true;
    });
    if (found) await this.clearMemberships(id);
  }

  /** Removes the memberships that count no more: of a group that is gone, or under a former alias. */
  async clearMemberships(id: string): Promise<void> {
    let after: string | undefined;
    for (;;) {
      const keys = await this.#context.records.members.list({ prefix: `${id}/`, limit: CHUNK, ...(after === undefined ? {} : { after }) });
      if (keys.length === 0) return;
      after = keys[keys.length - 1]!;
      await this.#context.change(async (change) => {
        const group = await change.records.groups.get(id);
        for (const key of keys) await clearMembership(change, id, group, key.slice(id.length + 1));
      });
    }
  }

  async #members(id: string, group: Group): Promise<string[]> {
    const grant = group.type === 'external' ? group.alias?.grant : '';
    const entries = await this.#context.records.members.entries({ prefix: `${id}/` });
    return entries.filter(([, member]) => member.grant === grant).map(([key]) => key.slice(id.length + 1));
  }
}

async function clearMembership(change: IdentityChange, id: string, group: Group | undefined, entityId: string): Promise<void> {
  const member = await change.records.members.get(memberKey(id, entityId));
  if (!member) return;
  if (group && member.grant === (group.type === 'external' ? group.alias?.grant : '')) return;
  await change.records.members.delete(memberKey(id, entityId));
  const entity = await change.records.entities.get(entityId);
  if (!entity) return;
  await change.putEntity(entityId, {
    ...entity,
    group_ids: without(entity.group_ids, id),
    external_groups: Object.fromEntries(Object.entries(entity.external_groups).filter(([external]) => external !== id)),
  });
}

async function knownId(change: IdentityChange, target: GroupTarget): Promise<string | undefined> {
  if (target === 'new') return undefined;
  if ('id' in target) return target.id;
  return (await change.records.groupNames.get(folded(target.named)))?.id;
}

function groupType(asked: string | undefined, stored: Group | undefined): Group['type'] {
  if (!asked) return stored?.type ?? 'internal';
  if (stored && asked !== stored.type) throw new BadRequest('group type cannot be changed');
  if (asked !== 'internal' && asked !== 'external') throw new BadRequest(`invalid group type ${JSON.stringify(asked)}`);
  return asked;
}

export function newGroup(type: Group['type'], now: string): Group {
  return {
    name: '',
    type,
    policies: [],
    metadata: {},
    parent_group_ids: [],
    member_group_ids: [],
    modify_index: 0,
    creation_time: now,
    last_update_time: now,
  };
}

/** The group's own record is read and written by the same transaction, so two such changes never mix. */
async function setMembers(change: IdentityChange, id: string, wanted: ReadonlySet<string>): Promise<void> {
  const { records } = change;
  const current = new Set((await records.members.list({ prefix: `${id}/` })).map((key) => key.slice(id.length + 1)));
  for (const entityId of wanted) {
    if (current.has(entityId)) continue;
    const entity = await records.entities.get(entityId);
    if (!entity) throw new BadRequest(`invalid entity ID ${JSON.stringify(entityId)}`);
    await records.members.put(memberKey(id, entityId), { grant: '' });
    await change.putEntity(entityId, { ...entity, group_ids: [...without(entity.group_ids, id), id] });
  }
  for (const entityId of current) {
    if (wanted.has(entityId)) continue;
    await records.members.delete(memberKey(id, entityId));
    const entity: Entity | undefined = await records.entities.get(entityId);
    if (entity) await change.putEntity(entityId, { ...entity, group_ids: without(entity.group_ids, id) });
  }
}

/** Reads every group above this one, so that two changes which close a circle only together conflict. */
async function setMemberGroups(change: IdentityChange, id: string, group: Group, wanted: readonly string[]): Promise<void> {
  const { records } = change;
  const above = await ancestorsOf(records, new Map([[id, group]]));
  for (const memberId of wanted) {
    if (memberId === id) throw new BadRequest(`member group ID ${JSON.stringify(id)} is same as the ID of the group`);
    const member = await records.groups.get(memberId);
    if (!member) throw new BadRequest(`invalid group ID ${JSON.stringify(memberId)}`);
    if (above.has(memberId)) throw new BadRequest(`cyclic relationship detected for member group ID ${JSON.stringify(memberId)}`);
    if (member.parent_group_ids.includes(id)) continue;
    await change.putGroup(memberId, { ...member, parent_group_ids: [...member.parent_group_ids, id] });
  }
  for (const memberId of group.member_group_ids) {
    if (wanted.includes(memberId)) continue;
    const member = await records.groups.get(memberId);
    if (member) await change.putGroup(memberId, { ...member, parent_group_ids: without(member.parent_group_ids, id) });
  }
}

function without(list: readonly string[], item: string): string[] {
  return list.filter((one) => one !== item);
}
