import { f, path, type AnyPath, type Collection, type StorageView } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

const Role = Type.Object({ door: Type.String(), ttl: Type.Number(), max_ttl: Type.Number() });
type Role = Static<typeof Role>;

export function roles(storage: Pick<StorageView, 'collection'>): Collection<Role> {
  return storage.collection('role/', Role);
}

export function rolePaths(): AnyPath[] {
  const all = path('roles', {
    synopsis: 'The roles of this mount.',
    description: 'Lists the names of all roles.',
    fields: {},
  }).list({
    summary: 'Lists the roles.',
    response: Type.Object({ keys: Type.Array(Type.String()) }),
    handle: async (req) => {
      const keys = await roles(req.storage).list();
      return keys.length === 0 ? undefined : { data: { keys } };
    },
  });
  const one = path('roles/{name}', {
    synopsis: 'A role: which door its codes open, and for how long.',
    description: 'A changed role counts for the codes that are issued from then on.',
    fields: {
      name: f.name('Name of the role.'),
      door: f.string('The door that codes of this role open.', { required: true }),
      ttl: f.duration("How long a code opens the door; 0 means the mount's default.", { default: 0 }),
      max_ttl: f.duration("How long at most, with all renewals; 0 means the mount's maximum.", { default: 0 }),
    },
  })
    .read({
      summary: 'Reads a role.',
      response: Role,
      handle: async (req) => {
        const role = await roles(req.storage).get(req.data.name);
        return role && { data: role };
      },
    })
    .upsert({
      summary: 'Creates or replaces a role.',
      exists: async (req) => roles(req.storage).has(req.data.name),
      handle: async (req) => {
        const { name, ...role } = req.data;
        await roles(req.storage).put(name, role);
        return undefined;
      },
    })
    .delete({
      summary: 'Deletes a role. Codes that were issued live on to the end of their leases.',
      handle: async (req) => {
        await roles(req.storage).delete(req.data.name);
        return undefined;
      },
    });
  return [all, one];
}
