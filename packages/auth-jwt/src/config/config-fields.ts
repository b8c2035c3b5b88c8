import { f } from '@strongroom/engine-sdk';

/** The parameters of `config`, with the names of Vault and OpenBao. */
export const configFields = {
  jwks_url: f.string('Address of a JSON Web Key Set with the keys of the issuer.'),
  jwks_ca_pem: f.string('PEM of the CA certificates to trust at jwks_url, instead of the system’s.'),
  jwks_pairs: f.list('Several key sets: a list of objects with jwks_url and jwks_ca_pem. A token may be signed by a key of any of them.'),
  oidc_discovery_url: f.string('The issuer, as its discovery document calls it, without /.well-known/openid-configuration.'),
  oidc_discovery_ca_pem: f.string('PEM of the CA certificates to trust at oidc_discovery_url, instead of the system’s.'),
  jwt_validation_pubkeys: f.commaStrings('PEM of the public keys, or of the certificates, that tokens are signed with.'),
  oidc_client_id: f.string('Client id of this server at the provider. For logins with a browser.'),
  oidc_client_secret: f.secret(
    'Client secret of this server at the provider. A write without it keeps it, as long as issuer and client id stay the same.',
  ),
  oidc_response_mode: f.string('query (default) or form_post.'),
  oidc_response_types: f.commaStrings('code (default), or id_token with form_post.'),
  bound_issuer: f.string('The iss that tokens must have. Default: oidc_discovery_url.'),
  jwt_supported_algs: f.commaStrings('Algorithms of signatures to accept. Default: RS, ES and PS with 256, 384 and 512, and EdDSA.'),
  default_role: f.string('The role of a login that names none.', { folds: (name: string) => name.toLowerCase() }),
  provider_config: f.map('What is special about a provider: an object with provider, one of ibmisam, secureauth.'),
  override_allowed_server_names: f.commaStrings(
    'Names to accept in the certificate of the issuer’s server, instead of the name in its address.',
  ),
  namespace_in_state: f.bool('Pass the namespace in the OIDC state parameter. A write without it keeps it.'),
  hide_refusal_reasons: f.bool(
    'Answer a token that the role does not accept as one with a wrong signature. For issuers that sign for strangers, who would learn which roles there are.',
  ),
  skip_jwks_validation: f.bool('Store the configuration although its keys cannot be fetched: a warning says why.', { default: false }),
} as const;
