/** The fields of a token role that stand first. */
export const TOKEN_ROLE_FIRST: readonly string[] = [
  'allowed_policies',
  'disallowed_policies',
  'orphan',
  'renewable',
  'token_explicit_max_ttl',
  'token_period',
  'token_type',
];
