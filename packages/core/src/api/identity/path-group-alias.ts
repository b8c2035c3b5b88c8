import { type AnyPath, boundsOf, f, NoContent, orNoContent, pageFields, path } from '@strongroom/engine-sdk';
import {
  groupAliasData,
  GroupAliasInfo,
  groupAliasInfo,
  listedWith,
  listing,
  ReadGroupAlias,
} from '../../services/identity/identity-data.ts';
import { Type, type Static } from 'typebox';
import type { IdentityStore } from '../../services/identity/identity-store.ts';

const aliasFields = {
  name: f.string('Name of the group in the outside directory.'),
  mount_accessor: f.string('Accessor of the login method that reports the group.'),
  canonical_id: f.string('Id of the external group. Default: a new group.'),
} as const;

interface AliasBody {
  readonly name?: string | undefined;
  readonly mount_accessor?: string | undefined;
  readonly canonical_id?: string | undefined;
}

const Saved = orNoContent(Type.Object({ canonical_id: Type.String(), id: Type.String() }));

export function groupAliasPaths(store: IdentityStore): AnyPath[] {
  const { groupAliases, mounts } = store;
  const save = async (id: string | undefined, data: AliasBody): Promise<{ data: Static<typeof Saved> } | undefined> => {
    const fields = { name: data.name, mountAccessor: data.mount_accessor, canonicalId: data.canonical_id };
    const saved = await groupAliases.save(id || undefined, fields);
    return saved && { data: { canonical_id: saved.canonicalId, id: saved.id } };
  };

  return [
    path('group-alias', {
      synopsis: 'Create or update a group alias.',
      description: 'Ties an external group to a group of an outside directory. With an id that alias is changed; else one is created.',
      fields: { id: f.string('Id of the alias to change.'), ...aliasFields },
    }).update({ summary: 'Create or update a group alias', response: Saved, handle: async ({ data }) => save(data.id, data) }),

    path('group-alias/id', {
      synopsis: 'Group aliases by id.',
      description: 'Lists the ids of all group aliases.',
      fields: pageFields,
    }).list({
      summary: 'List group aliases',
      response: listedWith(GroupAliasInfo),
      handle: async ({ data }) =>
        listing(
          (await groupAliases.list(boundsOf(data))).map(({ canonicalId, alias }) => [alias.id, groupAliasInfo(mounts, canonicalId, alias)]),
        ),
    }),

    path('group-alias/id/{id}', {
      synopsis: 'One group alias by its id.',
      description: 'Reads, changes or removes a group alias. A change ends the memberships that the alias gave, until the next logins.',
      fields: { id: f.name('Id of the alias.'), ...aliasFields },
    })
      .read({
        summary: 'Read a group alias',
        response: ReadGroupAlias,
        handle: async ({ data }) => {
          const found = await groupAliases.get(data.id);
          return found && { data: { ...groupAliasData(mounts, found.canonicalId, found.alias), namespace_id: 'root' } };
        },
      })
      .update({ summary: 'Update a group alias', response: Saved, handle: async ({ data }) => save(data.id, data) })
      .delete({
        summary: 'Delete a group alias',
        response: NoContent,
        handle: async ({ data }) => {
          await groupAliases.remove(data.id);
          return undefined;
        },
      }),
  ];
}
