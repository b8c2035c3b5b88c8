import { type AnyPath, BadRequest, f, IssuedToken, path } from '@strongroom/engine-sdk';
import type { Mount } from '../../kernel/mounts/mount.ts';
import { internalOf, reply } from '../../services/caller/internal-request.ts';
import type { TokenCreation, TokenMaker, TokenOrder } from '../../services/tokens/token-creation.ts';
import type { TokenRoles } from '../../services/tokens/token-roles.ts';

const fields = {
  id: f.secret('The token itself, chosen by the caller; needs sudo.'),
  policies: f.commaStrings(
    'Policies of the token, at most those of the parent unless a role lists others; none gives those of the parent.',
  ),
  meta: f.keyValues('Shown with the token and in the audit log.'),
  no_parent: f.bool('Make an orphan; needs sudo.'),
  no_default_policy: f.bool('Do not add the policy "default".'),
  ttl: f.duration('How long the token lives.', { aliases: ['lease'] }),
  renewable: f.bool('Whether the token can be renewed.'),
  type: f.string('service or batch.'),
  explicit_max_ttl: f.duration('Hard limit on the lifetime.'),
  period: f.duration('Each renewal gives this much; needs sudo.'),
  display_name: f.string('Shown in the audit log, with "token-" in front.'),
  num_uses: f.int('How many calls the token is good for; 0 is without limit.'),
  entity_alias: f.string('The alias whose entity the token belongs to; with roles only.'),
  bound_cidrs: f.commaStrings('CIDR blocks that the token works from, within those that the calling token is bound to; none gives those.'),
  format: f.string('Accepted for older clients.', { deprecated: true }),
};

/** `auth/token/create…` */
export function createPaths(parts: { creation: TokenCreation; roles: TokenRoles; mount: Mount }): AnyPath[] {
  const { creation, roles, mount } = parts;
  const description =
    'The token is a child of the calling one and ends with it, unless it is made an orphan. It has no policy, address or lifetime that the calling one lacks, unless a role gives it.';
  return [
    path('create', { synopsis: 'Creates a token.', description, fields }).update({
      summary: 'Creates a token.',
      response: IssuedToken,
      handle: async (req) => {
        const { auth, warnings } = await creation.create(req.data as TokenOrder, makerOf(req), mount, {
          path: 'auth/token/create',
          orphan: false,
          sudo: req.caller.sudo,
        });
        return reply({ auth, warnings: warnings.length > 0 ? warnings : null });
      },
    }),
    path('create-orphan', { synopsis: 'Creates a token without a parent.', description, fields }).update({
      summary: 'Creates an orphan token.',
      response: IssuedToken,
      handle: async (req) => {
        const { auth, warnings } = await creation.create(req.data as TokenOrder, makerOf(req), mount, {
          path: 'auth/token/create-orphan',
          orphan: true,
          sudo: req.caller.sudo,
        });
        return reply({ auth, warnings: warnings.length > 0 ? warnings : null });
      },
    }),
    path('create/{role_name:any}', {
      synopsis: 'Creates a token by a role.',
      description,
      fields: { ...fields, role_name: f.name('Name of the role.') },
    }).update({
      summary: 'Creates a token by a role.',
      response: IssuedToken,
      handle: async (req) => {
        const role = await roles.get(req.data.role_name);
        if (!role) throw new BadRequest(`unknown role ${req.data.role_name}`);
        const { auth, warnings } = await creation.create(req.data as TokenOrder, makerOf(req), mount, {
          path: `auth/token/create/${role.name}`,
          orphan: false,
          sudo: req.caller.sudo,
          role,
        });
        return reply({ auth, warnings: warnings.length > 0 ? warnings : null });
      },
    }),
  ];
}

function makerOf(req: object): TokenMaker {
  const { token, identity, request } = internalOf(req);
  return { token: token!, identityPolicies: identity?.identityPolicies ?? [], remoteAddress: request.remoteAddress ?? '' };
}
