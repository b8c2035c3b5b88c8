import type { KeySource, KeySourceSettings } from '../keys/key-source.ts';
import type { Trust } from '../keys/issuer-http.ts';
import type { JwtConfig } from './config.ts';

/** A configuration made ready for logins: made once for all of them. */
export interface Setup {
  readonly config: JwtConfig;
  readonly keys: KeySource;
  /** The `iss` that tokens must have; '' for any. */
  readonly issuer: string;
  /** For calls to the provider of `oidc_discovery_url`. */
  readonly trust: Trust;
}

/** Whom connections to the provider trust. */
export function trustOf(config: JwtConfig): Trust {
  return { ca: config.oidc_discovery_ca_pem, serverNames: config.override_allowed_server_names };
}

/** The one source of keys that a configuration names. */
export function keySourceOf(config: JwtConfig): KeySourceSettings {
  if (config.jwt_validation_pubkeys.length > 0) return { kind: 'keys', pems: config.jwt_validation_pubkeys };
  if (config.oidc_discovery_url !== '') return { kind: 'discovery', url: config.oidc_discovery_url, trust: trustOf(config) };
  const pairs = config.jwks_pairs.length > 0 ? config.jwks_pairs : [config];
  const sets = pairs.map(({ jwks_url: url, jwks_ca_pem: ca }) => ({
    url,
    trust: { ca, serverNames: config.override_allowed_server_names },
  }));
  return { kind: 'jwks', sets };
}

/** The issuer is the one that the discovery document is of, unless the configuration names another. */
export function setupOf(config: JwtConfig, keys: KeySource): Setup {
  return { config, keys, issuer: config.bound_issuer === '' ? config.oidc_discovery_url : config.bound_issuer, trust: trustOf(config) };
}
