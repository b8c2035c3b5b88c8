import { Type, type Static } from 'typebox';

/** What is stored of these parameters. */
export const DirectoryConfig = Type.Object({
  url: Type.String(),
  userdn: Type.String(),
  userattr: Type.String(),
  userfilter: Type.String(),
  binddn: Type.String(),
  bindpass: Type.String(),
  discoverdn: Type.Boolean(),
  upndomain: Type.String(),
  deny_null_bind: Type.Boolean(),
  groupdn: Type.String(),
  groupfilter: Type.String(),
  groupattr: Type.String(),
  anonymous_group_search: Type.Boolean(),
  use_token_groups: Type.Boolean(),
  use_pre111_group_cn_behavior: Type.Boolean(),
  username_as_alias: Type.Boolean(),
  case_sensitive_names: Type.Boolean(),
  dereference_aliases: Type.String(),
  max_page_size: Type.Number(),
  request_timeout: Type.Number(),
  connection_timeout: Type.Number(),
  starttls: Type.Boolean(),
  insecure_tls: Type.Boolean(),
  tls_min_version: Type.String(),
  tls_max_version: Type.String(),
  certificate: Type.String(),
  client_tls_cert: Type.String(),
  client_tls_key: Type.String(),
  /** Absent: referrals are not followed. */
  referral_hosts: Type.Optional(Type.String()),
});
export type DirectoryConfig = Static<typeof DirectoryConfig>;
