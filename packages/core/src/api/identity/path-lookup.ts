import { BadRequest, f, orNoContent, path, type AnyPath } from '@strongroom/engine-sdk';
import { EntityData, entityData, GroupData, groupData } from '../../services/identity/identity-data.ts';
import type { IdentityStore } from '../../services/identity/identity-store.ts';

const queryFields = {
  id: f.string('Id to look for.', { default: '' }),
  name: f.string('Name to look for.', { default: '' }),
  alias_id: f.string('Id of an alias of it.', { default: '' }),
  alias_name: f.string('Name of an alias of it; goes with alias_mount_accessor.', { default: '' }),
  alias_mount_accessor: f.string('Accessor of the mount of the alias; goes with alias_name.', { default: '' }),
} as const;

type Query = { readonly [K in keyof typeof queryFields]: string };

interface Finders {
  idOfName(name: string): Promise<string | undefined>;
  idOfAlias(aliasId: string): Promise<string | undefined>;
  idOfLogin(mountAccessor: string, aliasName: string): Promise<string | undefined>;
}

/** By exactly one of the four keys. @throws BadRequest */
async function find(query: Query, finders: Finders): Promise<string | undefined> {
  const byFactors = query.alias_name !== '' || query.alias_mount_accessor !== '';
  const keys = [query.id !== '', query.name !== '', query.alias_id !== '', byFactors].filter(Boolean).length;
  if (keys === 0) throw new BadRequest('query parameter not supplied');
  if (keys > 1) throw new BadRequest('query parameter conflict; please supply distinct set of query parameters');
  if (query.id !== '') return query.id;
  if (query.name !== '') return finders.idOfName(query.name);
  if (query.alias_id !== '') return finders.idOfAlias(query.alias_id);
  if (query.alias_name === '' || query.alias_mount_accessor === '') {
    throw new BadRequest("both 'alias_name' and 'alias_mount_accessor' needs to be set");
  }
  return finders.idOfLogin(query.alias_mount_accessor, query.alias_name);
}

export function lookupPaths(store: IdentityStore): AnyPath[] {
  const { entities, groups, mounts } = store;
  const groupFinders: Finders = {
    idOfName: (name) => groups.idOfName(name),
    idOfAlias: (aliasId) => groups.idOfAlias(aliasId),
    idOfLogin: (mountAccessor, aliasName) => groups.idOfOutsideGroup(mountAccessor, aliasName),
  };
  return [
    path('lookup/entity', {
      synopsis: 'Find an entity.',
      description: 'By id, name, the id of an alias, or the mount and name of an alias. 204 when there is none.',
      fields: queryFields,
    }).update({
      summary: 'Find an entity',
      response: orNoContent(EntityData),
      handle: async ({ data }) => {
        const id = await find(data, entities);
        const view = id === undefined ? undefined : await entities.view(id);
        return view && { data: entityData(mounts, view) };
      },
    }),
    path('lookup/group', {
      synopsis: 'Find a group.',
      description: 'By id, name, the id of its alias, or the mount and name of its alias. 204 when there is none.',
      fields: queryFields,
    }).update({
      summary: 'Find a group',
      response: orNoContent(GroupData),
      handle: async ({ data }) => {
        const id = await find(data, groupFinders);
        const view = id === undefined ? undefined : await groups.view(id);
        return view && { data: groupData(mounts, view) };
      },
    }),
  ];
}
