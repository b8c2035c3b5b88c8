import { BadRequest, f, ListedKeys, NoContent, path, type AnyPath, type Collection, type StorageView } from '@strongroom/engine-sdk';
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
    response: ListedKeys,
    handle: async (req) => {
      const keys = await roles(req.storage).list();
      return keys.length === 0 ? undefined : { data: { keys } };
    },
  });
  const one = path('roles/{name}', {
    synopsis: 'A role: which door its codes open, and for how long.',
    description: 'A write changes the fields that are sent. It counts for the codes that are issued from then on.',
    fields: {
      name: f.name('Name of the role.'),
      door: f.string('The door that codes of this role open.'),
      ttl: f.duration("How long a code opens the door; 0 means the mount's default."),
      max_ttl: f.duration("How long at most, with all renewals; 0 means the mount's maximum."),
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
      summary: 'Creates or changes a role.',
      response: NoContent,
      exists: async (req) => roles(req.storage).has(req.data.name),
      handle: async ({ data, storage }) => {
        await storage.transaction(async (tx) => {
          const before = await roles(tx).get(data.name);
          const door = data.door ?? before?.door;
          if (!door) throw new BadRequest('door is required');
          const role = { door, ttl: data.ttl ?? before?.ttl ?? 0, max_ttl: data.max_ttl ?? before?.max_ttl ?? 0 };
          if (role.max_ttl > 0 && role.ttl > role.max_ttl) throw new BadRequest('ttl is longer than max_ttl');
          await roles(tx).put(data.name, role);
        });
        return undefined;
      },
    })
    .delete({
      summary: 'Deletes a role. Codes that were issued live on to the end of their leases.',
      response: NoContent,
      handle: async (req) => {
        await roles(req.storage).delete(req.data.name);
        return undefined;
      },
    });
  return [all, one];
}
