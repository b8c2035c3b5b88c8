import { BadRequest, f, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { checkCredentialConfig, checkCredentialType } from './credential-config.ts';
import { keysOf, Keys, pageFields } from './listing.ts';
import { recordsIn, type RoleRecord } from './records.ts';
import { credentialFields, visibleCredentialConfig } from './role-fields.ts';

const MANY = 10_000;

export function rolePaths(host: EngineHost): readonly AnyPath[] {
  const records = recordsIn(host.storage);

  const role = path('roles/{name}', {
    synopsis: 'Roles that issue short-lived database users.',
    description:
      'Statements may hold {{name}} (or {{username}}), {{password}}, {{expiration}} and {{subject}}. A write to an existing role changes ' +
      'what it sends and keeps the rest. Whether the connection exists is seen when credentials are issued.',
    fields: {
      name: f.name('Name of the role.'),
      db_name: f.string('Name of the connection.'),
      default_ttl: f.duration("Length of a lease; 0 for the mount's own."),
      max_ttl: f.duration("Length that renewals can reach; 0 for the mount's own, which is also the most."),
      creation_statements: f.statements('Statements that make and equip a user.'),
      revocation_statements: f.statements("Statements that take a user away. Empty: the plugin's own."),
      rollback_statements: f.statements('Statements that clean up after a creation that failed half-way.'),
      renew_statements: f.statements("Statements that move a user's expiry. Empty: the plugin's own."),
      ...credentialFields,
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
        renew_statements: Type.Array(Type.String()),
        rollback_statements: Type.Array(Type.String()),
        credential_config: Type.Optional(Type.Record(Type.String(), Type.String())),
      }),
      handle: async (req) => {
        const record = await records.roles.get(req.data.name);
        if (!record) return undefined;
        const { credential_config: options, ...rest } = record;
        return { data: { ...rest, ...visibleCredentialConfig(options) } };
      },
    })
    .upsert({
      summary: 'Creates or changes a role.',
      exists: async (req) => records.roles.has(req.data.name),
      handle: async (req) => {
        const { name } = req.data;
        const record = await req.storage.transaction(async (tx) => {
          const inside = recordsIn(tx);
          const next = changed(await inside.roles.get(name), req.data);
          if (await inside.staticRoles.has(name)) throw new BadRequest('Role and Static Role names must be unique');
          await inside.roles.put(name, next);
          return next;
        });
        const most = host.mount.maxLeaseTtl;
        if (record.max_ttl <= most && record.default_ttl <= most) return undefined;
        return { warnings: [`the role asks for more than the ${most} s that leases of this mount can last; they will end by then`] };
      },
    })
    .delete({
      summary: 'Deletes a role. Its leases stay, and can be revoked.',
      handle: async (req) => {
        const { name } = req.data;
        const record = await records.roles.get(name);
        if (!record) return undefined;
        await records.roles.delete(name);
        const connection = await records.connections.get(record.db_name);
        if (!connection) return undefined;
        const users = await records.users.entries({ prefix: `${connection.id}/`, limit: MANY });
        const live = users.filter(([, user]) => user.role === name && !user.undoing).length;
        if (live === 0) return undefined;
        return { warnings: [`${live} credentials of this role are still live. They can be revoked, but not renewed.`] };
      },
    });

  const list = path('roles', {
    synopsis: 'The names of the roles.',
    description: 'Lists names only; static roles have a list of their own.',
    fields: pageFields,
  }).list({
    summary: 'Lists the roles.',
    response: Keys,
    handle: async (req) => keysOf(records.roles, req.data),
  });

  return [role, list];
}

type Sent = { readonly [K in keyof RoleRecord]: (K extends 'credential_type' ? string : RoleRecord[K]) | undefined };

function changed(before: RoleRecord | undefined, sent: Sent): RoleRecord {
  const dbName = sent.db_name ?? before?.db_name ?? '';
  if (dbName === '') throw new BadRequest('database name is required');
  const type = checkCredentialType(sent.credential_type ?? before?.credential_type ?? 'password');
  const options = sent.credential_config ?? (type === before?.credential_type ? before.credential_config : {});
  checkCredentialConfig(type, options);
  const record: RoleRecord = {
    db_name: dbName,
    default_ttl: sent.default_ttl ?? before?.default_ttl ?? 0,
    max_ttl: sent.max_ttl ?? before?.max_ttl ?? 0,
    creation_statements: sent.creation_statements ?? before?.creation_statements ?? [],
    revocation_statements: sent.revocation_statements ?? before?.revocation_statements ?? [],
    rollback_statements: sent.rollback_statements ?? before?.rollback_statements ?? [],
    renew_statements: sent.renew_statements ?? before?.renew_statements ?? [],
    credential_type: type,
    credential_config: options,
  };
  if (record.max_ttl > 0 && record.default_ttl > record.max_ttl) {
    throw new BadRequest(`default_ttl (${record.default_ttl} s) is longer than max_ttl (${record.max_ttl} s)`);
  }
  return record;
}
