import { f } from '@strongroom/engine-sdk';

/** The parameters of `config`, with the names of Vault and OpenBao. */
export const configFields = {
  jwks_url: f.string('Address of a JSON Web Key Set with the keys of the issuer.'),
  jwks_ca_pem: f.string('PEM of the CA certificates to trust at jwks_url, instead of the system’s.'),
  jwks_pairs: f.list('Several key sets: a list of objects with jwks_url and jwks_ca_pem. A key from any of them can verify a token.'),
  oidc_discovery_url: f.string('The issuer, exactly as in its discovery document, without /.well-known/openid-configuration.'),
  oidc_discovery_ca_pem: f.string('PEM of the CA certificates to trust at oidc_discovery_url, instead of the system’s.'),
  jwt_validation_pubkeys: f.commaStrings('PEM of the public keys or certificates that verify tokens.'),
  oidc_client_id: f.string('Client id of this server at the provider, for logins with a browser.'),
  oidc_client_secret: f.secret(
    'Client secret of this server at the provider. A write without it keeps the stored secret, as long as issuer and client id stay the same.',
  ),
  oidc_response_mode: f.string('query (default) or form_post.'),
  oidc_response_types: f.commaStrings('code (default), or id_token with form_post.'),
  bound_issuer: f.string('The required iss claim. Default: oidc_discovery_url.'),
  jwt_supported_algs: f.commaStrings('Signature algorithms to accept. Default: RS, ES and PS with 256, 384 and 512, and EdDSA.'),
  default_role: f.string('Role for logins that do not name one.', { folds: (name: string) => name.toLowerCase() }),
  provider_config: f.map('Provider-specific settings: an object whose provider is ibmisam or secureauth.'),
  override_allowed_server_names: f.commaStrings(
    'Names to accept in the certificate of the issuer’s server, instead of the name in its address.',
  ),
  namespace_in_state: f.bool('Pass the namespace in the OIDC state parameter. A write without it keeps the stored value.'),
  hide_refusal_reasons: f.bool(
    'Return the error of a wrong signature for every token that a role refuses. Set it for public issuers, so that strangers cannot learn which roles exist.',
  ),
  skip_jwks_validation: f.bool('Store the configuration even if its keys cannot be fetched. A warning gives the reason.', {
    default: false,
  }),
} as const;
