import { Type, type Static } from 'typebox';

/** A role of `auth/token/roles/`, as stored and as read. Seconds. */
export const TokenRole = Type.Object({
  allowed_entity_aliases: Type.Union([Type.Array(Type.String()), Type.Null()]),
  allowed_policies: Type.Array(Type.String()),
  allowed_policies_glob: Type.Array(Type.String()),
  disallowed_policies: Type.Array(Type.String()),
  disallowed_policies_glob: Type.Array(Type.String()),
  explicit_max_ttl: Type.Number(),
  name: Type.String(),
  orphan: Type.Boolean(),
  path_suffix: Type.String(),
  period: Type.Number(),
  renewable: Type.Boolean(),
  token_bound_cidrs: Type.Optional(Type.Array(Type.String())),
  token_explicit_max_ttl: Type.Number(),
  token_no_default_policy: Type.Boolean(),
  token_num_uses: Type.Optional(Type.Number()),
  token_period: Type.Number(),
  token_strictly_bind_ip: Type.Optional(Type.Boolean()),
  token_type: Type.String(),
});
export type TokenRole = Static<typeof TokenRole>;
