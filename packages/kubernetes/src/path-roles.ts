import { f, namesPath, NoContent, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { objectName } from './names.ts';
import { recordsIn, RoleRecord } from './records.ts';
import { createsAccount, roleFields, shownRole, writtenRole } from './role.ts';

const ListOrNull = Type.Union([Type.Array(Type.String()), Type.Null()]);
const MapOrNull = Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]);

export function rolePaths(host: EngineHost): readonly AnyPath[] {
  const { roles } = recordsIn(host.storage);
  const role = path('roles/{name}', {
    synopsis: 'Roles that create credentials.',
    description:
      'A role has exactly one of service_account_name, kubernetes_role_name and generated_role_rules. A write to an existing role changes the parameters that it ' +
      'sends; it counts for the credentials that are created from then on.',
    fields: { name: f.name('Name of the role.'), ...roleFields },
  })
    .read({
      summary: 'Reads a role.',
      response: Type.Object({
        name: Type.String(),
        ...RoleRecord.properties,
        allowed_kubernetes_namespaces: ListOrNull,
        token_default_audiences: ListOrNull,
        extra_labels: MapOrNull,
        extra_annotations: MapOrNull,
      }),
      handle: async (req) => {
        const record = await roles.get(req.data.name);
        return record && { data: shownRole(req.data.name, record) };
      },
    })
    .upsert({
      summary: 'Creates or changes a role.',
      response: NoContent,
      exists: async (req) => roles.has(req.data.name),
      handle: async (req) => {
        const { name, ...sent } = req.data;
        await req.storage.transaction(async (tx) => {
          const { roles: inside } = recordsIn(tx);
          const next = await writtenRole(await inside.get(name), sent);
          if (createsAccount(next)) objectName(host, next.name_template, 'token', name);
          await inside.put(name, next);
        });
        return undefined;
      },
    })
    .delete({
      summary: 'Deletes a role. Its credentials stay until their leases end.',
      response: NoContent,
      handle: async (req) => {
        await roles.delete(req.data.name);
        return undefined;
      },
    });
  return [role, namesPath('roles', roles, { synopsis: 'The names of the roles.' })];
}
