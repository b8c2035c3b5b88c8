import { defaultRoleTokens, RoleTokens } from '@strongroom/auth-sdk';
import type { Collection, StorageView, Transaction } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

/** A role, as it is stored at `role/<name>`. Numbers of `bound_claims` are exact. */
export const Role = Type.Object({
  role_type: Type.Enum(['jwt', 'oidc']),
  user_claim: Type.String(),
  user_claim_json_pointer: Type.Boolean(),
  bound_audiences: Type.Array(Type.String()),
  bound_subject: Type.String(),
  bound_claims: Type.Record(Type.String(), Type.Unknown()),
  bound_claims_type: Type.Enum(['string', 'glob']),
  claim_mappings: Type.Record(Type.String(), Type.String()),
  groups_claim: Type.String(),
  expiration_leeway: Type.Number(),
  not_before_leeway: Type.Number(),
  clock_skew_leeway: Type.Number(),
  max_token_age: Type.Number(),
  reject_replays: Type.Boolean(),
  token_policies_template_claims: Type.Boolean(),
  allowed_redirect_uris: Type.Array(Type.String()),
  oidc_scopes: Type.Array(Type.String()),
  callback_mode: Type.Enum(['client', 'direct', 'device']),
  poll_interval: Type.Number(),
  oidc_disable_confirmation: Type.Boolean(),
  verbose_oidc_logging: Type.Boolean(),
  oauth2_metadata: Type.Array(Type.String()),
  max_age: Type.Number(),
  ...RoleTokens.properties,
});
export type Role = Static<typeof Role>;

/** What a role is before anything was written. */
export const defaultRole: Role = {
  role_type: 'oidc',
  user_claim: '',
  user_claim_json_pointer: false,
  bound_audiences: [],
  bound_subject: '',
  bound_claims: {},
  bound_claims_type: 'string',
  claim_mappings: {},
  groups_claim: '',
  expiration_leeway: 0,
  not_before_leeway: 0,
  clock_skew_leeway: 0,
  max_token_age: 0,
  reject_replays: false,
  token_policies_template_claims: false,
  allowed_redirect_uris: [],
  oidc_scopes: [],
  callback_mode: 'client',
  poll_interval: 0,
  oidc_disable_confirmation: false,
  verbose_oidc_logging: false,
  oauth2_metadata: [],
  max_age: 0,
  ...defaultRoleTokens,
};

/** The roles of a mount, by their names in lower case. */
export function rolesOf(view: StorageView | Transaction): Collection<Role> {
  return view.collection('role/', Role);
}
