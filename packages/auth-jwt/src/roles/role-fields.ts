import { roleTokenFields } from '@strongroom/auth-sdk';
import { f } from '@strongroom/engine-sdk';

/** The parameters of `role/:name`, with the names of Vault and OpenBao. */
export const roleFields = {
  role_type: f.string('jwt for programs that bring a token, oidc for people who log in at the provider. A write without it means oidc.'),
  user_claim: f.string('Claim that identifies who logs in: its value names the alias of the entity.'),
  user_claim_json_pointer: f.bool('user_claim is a JSON pointer, such as /user/id.'),
  bound_audiences: f.commaStrings('Audiences of which the aud of a token must name one. Without any, tokens with an aud are refused.'),
  bound_subject: f.string('The sub that a token must have.'),
  bound_claims: f.map(
    'Claims that a token must have, each with a value or a list of values of which one must match. Keys that start with / are JSON pointers.',
  ),
  bound_claims_type: f.string(
    'string: values match exactly. glob: * in a value stands for any characters. A write without it means string.',
  ),
  claim_mappings: f.keyValues(
    'Claims to copy to the metadata of token and alias, each with its metadata key. Keys that start with / are JSON pointers.',
  ),
  groups_claim: f.string(
    'Claim with the names of the groups of who logs in: a text or a list of texts. A JSON pointer if it starts with /.',
  ),
  expiration_leeway: f.signedDuration('How long a token without exp is valid after its iat or nbf. 0 means 150 s, a negative value 0 s.'),
  not_before_leeway: f.signedDuration('How long before its exp a token without nbf and iat is valid. 0 means 150 s, a negative value 0 s.'),
  clock_skew_leeway: f.signedDuration('Tolerance for exp, nbf and iat. 0 means 60 s, a negative value 0 s.'),
  max_token_age: f.duration('How long ago a token may have been issued, by its iat; 0 is without limit.'),
  reject_replays: f.bool('Accept each token once: its jti, which it must have, is remembered until the token expires.'),
  token_policies_template_claims: f.bool('token_policies are templates over the claims, such as team-{{.team}}.'),
  allowed_redirect_uris: f.commaStrings('Addresses to which the provider may send the browser back. For roles of the type oidc.'),
  oidc_scopes: f.commaStrings('Scopes to ask the provider for, beside openid.'),
  callback_mode: f.string(
    'client: the command line or the UI takes the callback. direct: this server does. device: none, the provider shows a code. A write without it means client.',
  ),
  poll_interval: f.int('Seconds between two polls in the modes direct and device.', { minimum: 0 }),
  oidc_disable_confirmation: f.bool('In the mode direct, do not ask for a confirmation in the browser. A write without it means false.'),
  verbose_oidc_logging: f.bool('Log the claims of logins at the level debug. They may contain personal data.'),
  oauth2_metadata: f.commaStrings('Tokens of the provider to put into the metadata of the token: access_token, id_token, refresh_token.'),
  max_age: f.duration('How long ago the login at the provider may have been, in seconds; 0 is without limit.'),
  ...roleTokenFields(['policies', 'num_uses', 'ttl', 'max_ttl', 'period', 'bound_cidrs']),
} as const;
