import {
  type AnyPath,
  BadRequest,
  boundsOf,
  defaultTokenParameters,
  f,
  ListedKeys,
  mergeTokenParameters,
  NoContent,
  pageFields,
  path,
  tokenFields,
} from '@strongroom/engine-sdk';
import { TokenRole } from '../../services/tokens/token-role.ts';
import type { TokenRoles } from '../../services/tokens/token-roles.ts';

const { token_policies: _policies, token_ttl: _ttl, token_max_ttl: _max, ...tokenParameters } = tokenFields;

/** `auth/token/roles…` */
export function rolePaths({ roles }: { roles: TokenRoles }): AnyPath[] {
  const named = path('roles/{role_name:any}', {
    synopsis: 'Roles fix what tokens made by them may be.',
    description: 'auth/token/create/<role> makes tokens within the limits of the role.',
    fields: {
      role_name: f.name('Name of the role.'),
      allowed_policies: f.commaStrings("Policies that may be asked for. Without this and allowed_policies_glob, at most the caller's own."),
      allowed_policies_glob: f.commaStrings('Globs of such policies.'),
      disallowed_policies: f.commaStrings('Policies that may not be asked for.'),
      disallowed_policies_glob: f.commaStrings('Globs of such policies.'),
      allowed_entity_aliases: f.commaStrings('Entity aliases that may be asked for; globs.'),
      orphan: f.bool('Tokens have no parent.'),
      period: f.duration('Use token_period.', { deprecated: true }),
      explicit_max_ttl: f.duration('Use token_explicit_max_ttl.', { deprecated: true }),
      path_suffix: f.string('Added to the path of the tokens, for revoking by prefix.'),
      renewable: f.bool('Whether tokens can be renewed.'),
      ...tokenParameters,
    },
  })
    .read({
      summary: 'Reads a role.',
      response: TokenRole,
      handle: async (req) => {
        const role = await roles.get(req.data.role_name);
        return role && { data: role };
      },
    })
    .upsert({
      summary: 'Creates or changes a role.',
      response: NoContent,
      exists: async (req) => (await roles.get(req.data.role_name)) !== undefined,
      handle: async (req) => {
        const { data, supplied } = req;
        const before = await roles.get(data.role_name);
        const parameters = mergeTokenParameters(
          {
            ...defaultTokenParameters,
            token_type: before?.token_type ?? 'default-service',
            token_bound_cidrs: before?.token_bound_cidrs ?? [],
            token_explicit_max_ttl: before?.token_explicit_max_ttl ?? 0,
            token_no_default_policy: before?.token_no_default_policy ?? false,
            token_num_uses: before?.token_num_uses ?? 0,
            token_period: before?.token_period ?? 0,
            token_strictly_bind_ip: before?.token_strictly_bind_ip ?? false,
          },
          data,
          supplied as ReadonlySet<string>,
        );
        const keep = <T>(key: string, sent: T | undefined, stored: T | undefined, none: T): T =>
          (supplied as ReadonlySet<string>).has(key) ? (sent ?? none) : (stored ?? none);
        const suffix = keep('path_suffix', data.path_suffix, before?.path_suffix, '');
        if (suffix !== '' && !/^\w[\w-.]*\w?$/.test(suffix))
          throw new BadRequest('given role path suffix contains invalid characters; only letters, digits, _, - and . are allowed');
        const tokenType = parameters.token_type === 'default' ? 'default-service' : parameters.token_type;
        const orphan = keep('orphan', data.orphan, before?.orphan, false);
        if (tokenType === 'batch' && !orphan && keep('renewable', data.renewable, before?.renewable, true) && supplied.has('renewable')) {
          throw new BadRequest("'token_type' cannot be 'batch' when role is set to generate renewable tokens");
        }
        await roles.put({
          allowed_entity_aliases: supplied.has('allowed_entity_aliases')
            ? (data.allowed_entity_aliases ?? null)
            : (before?.allowed_entity_aliases ?? null),
          allowed_policies: lower(keep('allowed_policies', data.allowed_policies, before?.allowed_policies, [])),
          allowed_policies_glob: lower(keep('allowed_policies_glob', data.allowed_policies_glob, before?.allowed_policies_glob, [])),
          disallowed_policies: lower(keep('disallowed_policies', data.disallowed_policies, before?.disallowed_policies, [])),
          disallowed_policies_glob: lower(
            keep('disallowed_policies_glob', data.disallowed_policies_glob, before?.disallowed_policies_glob, []),
          ),
          explicit_max_ttl: keep('explicit_max_ttl', data.explicit_max_ttl, before?.explicit_max_ttl, 0),
          name: data.role_name,
          orphan,
          path_suffix: suffix,
          period: keep('period', data.period, before?.period, 0),
          renewable: keep('renewable', data.renewable, before?.renewable, true),
          ...(parameters.token_bound_cidrs.length > 0 ? { token_bound_cidrs: parameters.token_bound_cidrs } : {}),
          token_explicit_max_ttl: parameters.token_explicit_max_ttl,
          token_no_default_policy: parameters.token_no_default_policy,
          ...(parameters.token_num_uses > 0 ? { token_num_uses: parameters.token_num_uses } : {}),
          token_period: parameters.token_period,
          ...(parameters.token_strictly_bind_ip ? { token_strictly_bind_ip: true } : {}),
          token_type: tokenType,
        });
        return undefined;
      },
    })
    .delete({
      summary: 'Deletes a role.',
      response: NoContent,
      handle: async (req) => {
        await roles.delete(req.data.role_name);
        return undefined;
      },
    });
  return [
    named,
    path('roles', {
      synopsis: 'The names of the roles.',
      description: 'Listed in order.',
      fields: pageFields,
    }).list({
      summary: 'Lists roles.',
      response: ListedKeys,
      searched: true,
      handle: async ({ data }) => ({ data: { keys: await roles.list(boundsOf(data)) } }),
    }),
  ];
}

function lower(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.toLowerCase()))].sort();
}
