import { isDeepStrictEqual } from 'node:util';
import { type AnyPath, BadRequest, type EngineHost, f, namesPath, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Connections } from './connections.ts';
import { countLiveUsers, liveUsersWarning } from './live-users.ts';
import { recordsIn } from './records.ts';
import { checkRole } from './role-checks.ts';
import { roleAfter, roleFields } from './role-settings.ts';
import { removalOf } from './user-removal.ts';
import { visibleCredentialConfig } from './role-fields.ts';

export function rolePaths(host: EngineHost, connections: Connections): readonly AnyPath[] {
  const records = recordsIn(host.storage);

  const role = path('roles/{name}', {
    synopsis: 'Roles that issue short-lived database users.',
    description:
      'Statements may hold {{name}} (or {{username}}), {{password}}, {{expiration}} and {{subject}}. A write to an existing role changes ' +
      'what it sends and keeps the rest. What would fail when credentials are issued is refused or warned of; a connection may be made later.',
    fields: {
      name: f.name('Name of the role.'),
      ...roleFields,
    },
  })
    .read({
      summary: 'Reads a role.',
      response: Type.Object({
        db_name: Type.String(),
        credential_type: Type.String(),
        default_ttl: Type.Number({ description: 'Seconds.' }),
        max_ttl: Type.Number({ description: 'Seconds.' }),
        creation_statements: Type.Array(Type.String()),
        revocation_statements: Type.Array(Type.String()),
        end_sessions: Type.Boolean(),
        on_owned_objects: Type.String(),
        renew_statements: Type.Array(Type.String()),
        rollback_statements: Type.Array(Type.String()),
        credential_config: Type.Optional(Type.Record(Type.String(), Type.String())),
      }),
      handle: async (req) => {
        const record = await records.roles.get(req.data.name);
        if (!record) return undefined;
        const { credential_config: options, ...rest } = record;
        const { end_sessions = false, on_owned_objects = 'fail' } = rest;
        return { data: { ...rest, end_sessions, on_owned_objects, ...visibleCredentialConfig(options) } };
      },
    })
    .upsert({
      summary: 'Creates or changes a role.',
      response: NoContent,
      exists: async (req) => records.roles.has(req.data.name),
      handle: async (req) => {
        const { name } = req.data;
        const before = await records.roles.get(name);
        const remarks = await checkRole(host, connections, name, roleAfter(before, req.data));
        const record = await req.storage.transaction(async (tx) => {
          const inside = recordsIn(tx);
          const next = roleAfter(await inside.roles.get(name), req.data);
          if (await inside.staticRoles.has(name)) throw new BadRequest('Role and Static Role names must be unique');
          await inside.roles.put(name, next);
          return next;
        });
        const most = host.mount.maxLeaseTtl;
        if (record.max_ttl > most || record.default_ttl > most) {
          remarks.push(`the role asks for more than the ${most} s that leases of this mount can last; they will end by then`);
        }
        // Revocations that failed may succeed now.
        if (before && !isDeepStrictEqual(removalOf(before), removalOf(record))) await host.retry(record.db_name);
        return remarks.length === 0 ? undefined : { warnings: remarks };
      },
    })
    .delete({
      summary: 'Deletes a role. Its leases stay, and can be revoked.',
      response: NoContent,
      handle: async (req) => {
        const { name } = req.data;
        const record = await records.roles.get(name);
        if (!record) return undefined;
        await records.roles.delete(name);
        const connection = await records.connections.get(record.db_name);
        if (!connection) return undefined;
        const warning = liveUsersWarning(
          await countLiveUsers(records.users, connection.id, name),
          'of this role',
          'revoked, but not renewed',
        );
        return warning === undefined ? undefined : { warnings: [warning] };
      },
    });

  const list = namesPath('roles', records.roles, {
    synopsis: 'The names of the roles.',
    description: 'Lists names only; static roles have a list of their own.',
    summary: 'Lists the roles.',
  });

  return [role, list];
}
