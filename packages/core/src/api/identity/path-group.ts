import { type AnyPath, boundsOf, f, NoContent, orNoContent, pageFields, path } from '@strongroom/engine-sdk';
import type { GroupFields, GroupTarget } from '../../services/identity/groups.ts';
import { GroupData, groupData, GroupInfo, groupInfo, listedWith, listing } from '../../services/identity/identity-data.ts';
import { Type, type Static } from 'typebox';
import { folded } from '../../services/identity/identity-records.ts';
import type { IdentityStore } from '../../services/identity/identity-store.ts';

const groupFields = {
  type: f.string('internal (members are named here) or external (logins fill it); cannot be changed. Default: internal.'),
  policies: f.commaStrings('Policies of every token of the members.'),
  metadata: f.keyValues('Free key-value pairs; policy templates can name them.'),
  member_entity_ids: f.commaStrings('Ids of all entities that are members.'),
  member_group_ids: f.commaStrings('Ids of all groups whose members count as members of this one.'),
} as const;

interface GroupBody {
  readonly type?: string | undefined;
  readonly policies?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly member_entity_ids?: readonly string[] | undefined;
  readonly member_group_ids?: readonly string[] | undefined;
}

const Saved = orNoContent(Type.Object({ id: Type.String(), name: Type.String() }));

function fieldsOf(data: GroupBody, name: string | undefined): GroupFields {
  return {
    name,
    type: data.type,
    policies: data.policies,
    metadata: data.metadata,
    memberEntityIds: data.member_entity_ids,
    memberGroupIds: data.member_group_ids,
  };
}

export function groupPaths(store: IdentityStore): AnyPath[] {
  const { groups, mounts } = store;
  const save = async (target: GroupTarget, fields: GroupFields): Promise<{ data: Static<typeof Saved> } | undefined> => {
    const saved = await groups.save(target, fields);
    return saved.created ? { data: { id: saved.id, name: saved.name } } : undefined;
  };
  const read = async (id: string | undefined) => {
    const view = id === undefined ? undefined : await groups.view(id);
    return view && { data: groupData(mounts, view) };
  };
  const remove = async (id: string | undefined): Promise<undefined> => {
    if (id !== undefined) await groups.remove(id);
    return undefined;
  };

  return [
    path('group', {
      synopsis: 'Create or update a group.',
      description: 'With an id that group is changed; else one is created.',
      fields: {
        id: f.string('Id of the group to change.'),
        name: f.string('Name of the group; one is made when left out.'),
        ...groupFields,
      },
    }).update({
      summary: 'Create or update a group',
      response: Saved,
      handle: async ({ data }) => save(data.id ? { id: data.id } : 'new', fieldsOf(data, data.name)),
    }),

    path('group/id', { synopsis: 'Groups by id.', description: 'Lists the ids of all groups.', fields: pageFields }).list({
      summary: 'List groups by id',
      response: listedWith(GroupInfo),
      handle: async ({ data }) => listing((await groups.list(boundsOf(data))).map((view) => [view.id, groupInfo(mounts, view)])),
    }),

    path('group/id/{id}', {
      synopsis: 'One group by its id.',
      description: 'Reads, changes or removes a group. Only what is sent changes.',
      fields: { id: f.name('Id of the group.'), name: f.string('New name of the group.'), ...groupFields },
    })
      .read({ summary: 'Read a group by id', response: GroupData, handle: async ({ data }) => read(data.id) })
      .update({
        summary: 'Update a group by id',
        response: Saved,
        handle: async ({ data }) => save({ id: data.id }, fieldsOf(data, data.name)),
      })
      .delete({ summary: 'Delete a group by id', response: NoContent, handle: async ({ data }) => remove(data.id) }),

    path('group/name', {
      synopsis: 'Groups by name.',
      description: 'Lists the names of all groups; the details go by id.',
      fields: pageFields,
    }).list({
      summary: 'List groups by name',
      response: listedWith(GroupInfo),
      searched: true,
      handle: async ({ data }) => {
        const views = await groups.listByName(boundsOf(data));
        const keys = views.map((view) => view.group.name);
        const key_info = Object.fromEntries(views.map((view) => [view.id, groupInfo(mounts, view)]));
        return keys.length === 0 ? undefined : { data: { keys, key_info } };
      },
    }),

    path('group/name/{name:all}', {
      synopsis: 'One group by its name.',
      description: 'Reads, creates, changes or removes a group.',
      fields: { name: f.name('Name of the group; case does not matter.', { folds: folded }), ...groupFields },
    })
      .read({ summary: 'Read a group by name', response: GroupData, handle: async ({ data }) => read(await groups.idOfName(data.name)) })
      .update({
        summary: 'Create or update a group by name',
        response: Saved,
        handle: async (req) => save({ named: req.data.name }, fieldsOf(req.data, req.verbatim['name'] ?? req.data.name)),
      })
      .delete({
        summary: 'Delete a group by name',
        response: NoContent,
        handle: async ({ data }) => remove(await groups.idOfName(data.name)),
      }),
  ];
}
