import { roleTokenFields } from '@strongroom/auth-sdk';
import { f } from '@strongroom/engine-sdk';

/** The parameters of `role/:name`, with the names of Vault and OpenBao. */
export const roleFields = {
  role_type: f.string('jwt for programs with a signed token, oidc for people who log in at the provider. A write without it sets oidc.'),
  user_claim: f.string('Claim that identifies the caller. Its value becomes the name of the alias.'),
  user_claim_json_pointer: f.bool('user_claim is a JSON pointer, such as /user/id.'),
  bound_audiences: f.commaStrings(
    'Accepted audiences: the aud claim must contain at least one. If empty, tokens with an aud claim are refused.',
  ),
  bound_subject: f.string('The required sub claim.'),
  bound_claims: f.map('Required claims, each with a value or a list of accepted values. Keys that start with / are JSON pointers.'),
  bound_claims_type: f.string('string: values match exactly. glob: * matches any characters. A write without it sets string.'),
  claim_mappings: f.keyValues(
    'Claims to copy to the metadata of token and alias: claim to metadata key. Claims that start with / are JSON pointers.',
  ),
  groups_claim: f.string('Claim with the group names of the caller: a string or a list of strings. A JSON pointer if it starts with /.'),
  expiration_leeway: f.signedDuration('How long a token without exp is valid after its iat or nbf. 0 means 150 s, a negative value 0 s.'),
  not_before_leeway: f.signedDuration('How long before its exp a token without nbf and iat is valid. 0 means 150 s, a negative value 0 s.'),
  clock_skew_leeway: f.signedDuration('Tolerance for exp, nbf and iat. 0 means 60 s, a negative value 0 s.'),
  max_token_age: f.duration('Maximum age of a token, by its iat claim; 0 means no limit.'),
  reject_replays: f.bool('Accept each token only once. Tokens must have a jti claim, which is stored until the token expires.'),
  token_policies_template_claims: f.bool('token_policies are templates over the claims, such as team-{{.team}}.'),
  allowed_redirect_uris: f.commaStrings('Addresses to which the provider can redirect the browser. Required for role_type=oidc.'),
  oidc_scopes: f.commaStrings('Scopes to request in addition to openid.'),
  callback_mode: f.string(
    'Who receives the callback. client: the command line or the UI. direct: this server. device: nobody, the user enters a code. A write without it sets client.',
  ),
  poll_interval: f.int('Seconds between polls, with callback_mode=direct or device.', { minimum: 0 }),
  oidc_disable_confirmation: f.bool('Skip the confirmation page of callback_mode=direct. A write without it sets false.'),
  verbose_oidc_logging: f.bool('Log the claims of logins at the level debug. They may contain personal data.'),
  oauth2_metadata: f.commaStrings('Tokens of the provider to copy to the metadata of the token: access_token, id_token, refresh_token.'),
  max_age: f.duration('Maximum age of the login at the provider, in seconds; 0 means no limit.'),
  ...roleTokenFields(['policies', 'num_uses', 'ttl', 'max_ttl', 'period', 'bound_cidrs']),
} as const;
