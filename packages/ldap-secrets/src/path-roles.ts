import { type AnyPath, type EngineHost, f, folderList, foldersPath, leased, NoContent, pageFields, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { DynamicAccounts } from './dynamic-accounts.ts';
import { changedRole, dynamicRoleFields, renderSample, roleGaps } from './dynamic-role.ts';
import { pathName, requireReachable } from './path-name.ts';
import { CONFIG, recordsIn } from './records.ts';
import { requireServiceAccount } from './self-managed.ts';

/** What ends the paths of a role. */
const HIDDEN_ROLES = { ends: ['preview'] };
const SAMPLE_PASSWORD = 'sample-password';

export function rolePaths(host: EngineHost, accounts: DynamicAccounts): readonly AnyPath[] {
  const { roles } = recordsIn(host.storage);
  const name = pathName('role');

  const role = path('role/{name:path}', {
    synopsis: 'Roles that make accounts for a lease.',
    description:
      'The LDIF templates see {{.Username}}, {{.Password}}, {{.DisplayName}}, {{.RoleName}}, {{.IssueTime}}, {{.IssueTimeSeconds}}, ' +
      '{{.ExpirationTime}} and {{.ExpirationTimeSeconds}}. A write to an existing role changes what it sends and keeps the rest; an empty text deletes.',
    fields: { name, ...dynamicRoleFields, ...pageFields },
  })
    .read({
      summary: 'Reads a dynamic role.',
      response: Type.Object({
        creation_ldif: Type.String(),
        deletion_ldif: Type.String(),
        rollback_ldif: Type.String(),
        username_template: Type.String(),
        default_ttl: Type.Number({ description: 'Seconds.' }),
        max_ttl: Type.Number({ description: 'Seconds.' }),
      }),
      handle: async (req) => {
        const record = await roles.get(req.data.name);
        return record && { data: record };
      },
    })
    .upsert({
      summary: 'Creates or changes a dynamic role.',
      response: NoContent,
      exists: async (req) => roles.has(req.data.name),
      handle: async (req) => {
        requireReachable(req.data.name, HIDDEN_ROLES);
        const record = await req.storage.transaction(async (tx) => {
          const { config, roles: inside } = recordsIn(tx);
          requireServiceAccount(await config.get(CONFIG));
          const next = changedRole(await inside.get(req.data.name), req.data, accounts.environment);
          await inside.put(req.data.name, next);
          return next;
        });
        const warnings = roleGaps(record, req.data.name, accounts.environment);
        const most = host.mount.maxLeaseTtl;
        if (record.max_ttl > most || record.default_ttl > most) {
          warnings.push(`the role asks for more than the ${most} s that leases of this mount can last; they will end by then`);
        }
        const { ttl, maxTtl } = await accounts.termsOf(record);
        if (maxTtl > 0 && ttl > maxTtl) {
          warnings.push(`default_ttl (${ttl} s) is longer than the max_ttl of the configuration (${maxTtl} s); leases end by that`);
        }
        return warnings.length === 0 ? undefined : { warnings };
      },
    })
    .delete({
      summary: 'Deletes a dynamic role. Its leases stay, and are revoked by the LDIF of their issue.',
      response: NoContent,
      handle: async (req) => {
        await roles.delete(req.data.name);
        return undefined;
      },
    })
    .list(folderList(roles, 'Lists dynamic roles and folders.'));

  const preview = path('role/{name:path}/preview', {
    synopsis: 'What a role would do.',
    description:
      'Renders the name and the LDIF with sample values, and changes nothing: of the stored role, with whatever parameters are sent in its place, ' +
      'or of one that is not stored.',
    fields: {
      name,
      ...dynamicRoleFields,
      display_name: f.string('Display name of the token that asks for an account; default your own.'),
    },
  }).update({
    summary: 'Renders a role with sample values.',
    response: Type.Object({
      username: Type.String(),
      password: Type.String({ description: 'A sample; never one that is in use.', secret: true }),
      distinguished_names: Type.Array(Type.String()),
      creation_ldif: Type.String(),
      deletion_ldif: Type.String(),
      rollback_ldif: Type.String(),
    }),
    handle: async (req) => {
      const { name: roleName, display_name, ...sent } = req.data;
      const record = changedRole(await roles.get(roleName), sent, accounts.environment);
      const issued = host.clock.millis();
      const { ttl } = host.limit(await accounts.termsOf(record));
      const sample = { displayName: display_name ?? req.caller.displayName, roleName, password: SAMPLE_PASSWORD, issued };
      const { creation, ...rendered } = renderSample(record, { ...sample, expires: issued + ttl * 1_000 }, accounts.environment);
      return { data: { ...rendered, password: SAMPLE_PASSWORD, distinguished_names: creation.map(({ dn }) => dn) } };
    },
  });

  const creds = path('creds/{name:path}', {
    synopsis: 'Accounts for a lease.',
    description: 'Each read makes an account of the role. When the lease ends the account is taken away.',
    fields: { name },
  }).read({
    summary: 'Issues an account.',
    response: leased(
      Type.Object({ username: Type.String(), password: Type.String({ secret: true }), distinguished_names: Type.Array(Type.String()) }),
    ),
    handle: async (req) => {
      const record = await roles.get(req.data.name);
      return record && accounts.create(req, req.data.name, record);
    },
  });

  return [role, preview, creds, foldersPath('role', roles, { synopsis: 'The names of the dynamic roles.', byGet: true })];
}
