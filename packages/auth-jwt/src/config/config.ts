import type { Collection, StorageView, Transaction } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

/** Of one key set among several. */
const JwksPair = Type.Object({ jwks_url: Type.String(), jwks_ca_pem: Type.String() });

/** The configuration of a mount, as it is stored at `config`. Exactly one source of keys is set. */
export const JwtConfig = Type.Object({
  jwks_url: Type.String(),
  jwks_ca_pem: Type.String(),
  jwks_pairs: Type.Array(JwksPair),
  oidc_discovery_url: Type.String(),
  oidc_discovery_ca_pem: Type.String(),
  jwt_validation_pubkeys: Type.Array(Type.String()),
  oidc_client_id: Type.String(),
  oidc_client_secret: Type.String(),
  oidc_response_mode: Type.String(),
  oidc_response_types: Type.Array(Type.String()),
  bound_issuer: Type.String(),
  jwt_supported_algs: Type.Array(Type.String()),
  default_role: Type.String(),
  provider_config: Type.Record(Type.String(), Type.Unknown()),
  override_allowed_server_names: Type.Array(Type.String()),
  namespace_in_state: Type.Boolean(),
  hide_refusal_reasons: Type.Boolean(),
});
export type JwtConfig = Static<typeof JwtConfig>;

/** What a write makes of everything that it leaves out. */
export const emptyConfig: JwtConfig = {
  jwks_url: '',
  jwks_ca_pem: '',
  jwks_pairs: [],
  oidc_discovery_url: '',
  oidc_discovery_ca_pem: '',
  jwt_validation_pubkeys: [],
  oidc_client_id: '',
  oidc_client_secret: '',
  oidc_response_mode: '',
  oidc_response_types: [],
  bound_issuer: '',
  jwt_supported_algs: [],
  default_role: '',
  provider_config: {},
  override_allowed_server_names: [],
  namespace_in_state: true,
  hide_refusal_reasons: false,
};

export const CONFIG_PREFIX = 'config/';
/** There is one configuration. */
export const CONFIG_ID = 'jwt';

export function configsOf(view: StorageView | Transaction): Pick<Collection<JwtConfig>, 'get' | 'put'> {
  return view.collection(CONFIG_PREFIX, JwtConfig, { cached: true });
}
