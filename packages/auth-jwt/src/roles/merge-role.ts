import { mergeRoleTokens } from '@strongroom/auth-sdk';
import { BadRequest } from '@strongroom/engine-sdk';
import { checkPolicyTemplates } from './policy-template.ts';
import { checkBoundClaims, checkClaimMappings, checkClaimNames } from './role-checks.ts';
import { defaultRole, type Role } from './role.ts';

/** What a write of a role sends. */
export type RoleData = Readonly<Record<string, unknown>>;

/** A write without these sets them to their default. */
const RESET: ReadonlySet<string> = new Set(['role_type', 'bound_claims_type', 'callback_mode', 'oidc_disable_confirmation']);
const METADATA = ['access_token', 'id_token', 'refresh_token'];

/** What a write makes of the stored role. @throws BadRequest naming the field */
export function mergeRole(stored: Role | undefined, data: RoleData, supplied: ReadonlySet<string>): Role {
  const merged: Record<string, unknown> = { ...defaultRole, ...stored };
  for (const key of Object.keys(defaultRole) as (keyof Role)[]) {
    if (supplied.has(key) && data[key] !== undefined) merged[key] = data[key];
    else if (RESET.has(key)) merged[key] = defaultRole[key];
  }
  const role = { ...merged, ...tokensOf(stored, data, supplied, merged['token_policies_template_claims'] === true) } as Role;
  checkRole(role);
  return role;
}

/** Templates keep their case: the names of claims in them have one. */
function tokensOf(stored: Role | undefined, data: RoleData, supplied: ReadonlySet<string>, templates: boolean): Partial<Role> {
  const tokens = mergeRoleTokens(stored, data, supplied);
  if (!templates) return tokens;
  const written = (['token_policies', 'policies'] as const).find((name) => supplied.has(name));
  const policies = written === undefined ? (stored?.token_policies ?? []) : ((data[written] ?? []) as string[]);
  return { ...tokens, token_policies: [...new Set(policies)] };
}

function checkRole(role: Role): void {
  if (role.role_type !== 'jwt' && role.role_type !== 'oidc') throw new BadRequest(`invalid 'role_type': ${String(role.role_type)}`);
  if (role.user_claim === '') throw new BadRequest('a user claim must be defined on the role');
  if (role.role_type === 'oidc' && role.callback_mode !== 'device' && role.allowed_redirect_uris.length === 0) {
    throw new BadRequest("'allowed_redirect_uris' must be set if 'role_type' is 'oidc' or unspecified.");
  }
  if (role.bound_claims_type !== 'string' && role.bound_claims_type !== 'glob') {
    throw new BadRequest(`invalid 'bound_claims_type': ${String(role.bound_claims_type)}`);
  }
  checkBoundClaims(role);
  checkClaimMappings(role.claim_mappings);
  checkClaimNames(role);
  if (!['client', 'direct', 'device'].includes(role.callback_mode)) throw new BadRequest(`invalid 'callback_mode': ${role.callback_mode}`);
  const unknown = role.oauth2_metadata.find((name) => !METADATA.includes(name));
  if (unknown !== undefined) throw new BadRequest(`Unrecognized oauth2 metadata name ${unknown}`);
  if (role.role_type === 'jwt' && !isBound(role)) {
    throw new BadRequest('must have at least one bound constraint when creating/updating a role');
  }
  if (role.token_policies_template_claims) checkPolicyTemplates(role.token_policies);
}

function isBound({ bound_audiences, bound_subject, bound_claims, token_bound_cidrs }: Role): boolean {
  return bound_audiences.length > 0 || bound_subject !== '' || Object.keys(bound_claims).length > 0 || token_bound_cidrs.length > 0;
}

/** What is allowed, but needs a word. */
export function roleWarnings(role: Role): string[] {
  if (!role.verbose_oidc_logging) return [];
  return ['verbose_oidc_logging is enabled: the log has the claims of logins at the level debug. Do not leave it on in production.'];
}
