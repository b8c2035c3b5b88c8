import { BadRequest } from '@strongroom/engine-sdk';
import { isAlgorithm } from '../keys/algorithms.ts';
import { caProblem, pemKeys } from '../keys/pem-keys.ts';
import { checkProvider } from './provider.ts';
import { emptyConfig, type JwtConfig } from './config.ts';

/** What a write of the configuration sends. */
export type ConfigData = Readonly<Record<string, unknown>>;

const ONE_SOURCE =
  "exactly one of 'jwt_validation_pubkeys', 'jwks_url', 'jwks_pairs', 'oidc_discovery_url', or 'provider_config' must be set";

/**
 * What a write makes of the stored configuration: everything that it leaves out is cleared, except `namespace_in_state`, and the client secret while it
 * would be sent to the same issuer, for the same client.
 * @throws BadRequest naming the field
 */
export function mergeConfig(stored: JwtConfig | undefined, data: ConfigData, supplied: ReadonlySet<string>): JwtConfig {
  const sent = Object.fromEntries(Object.keys(emptyConfig).flatMap((key) => (data[key] === undefined ? [] : [[key, data[key]]])));
  const config = {
    ...emptyConfig,
    namespace_in_state: stored?.namespace_in_state ?? true,
    ...sent,
    jwks_pairs: pairsIn(data['jwks_pairs']),
  } as JwtConfig;
  if (!supplied.has('oidc_client_secret') && stored && keepsSecret(stored, config)) config.oidc_client_secret = stored.oidc_client_secret;
  checkConfig(config);
  return config;
}

function keepsSecret(stored: JwtConfig, config: JwtConfig): boolean {
  const fields = ['oidc_client_id', 'oidc_discovery_url', 'oidc_discovery_ca_pem'] as const;
  const sameNames = stored.override_allowed_server_names.join() === config.override_allowed_server_names.join();
  return config.oidc_client_id !== '' && sameNames && fields.every((field) => stored[field] === config[field]);
}

function pairsIn(value: unknown): JwtConfig['jwks_pairs'] {
  return ((value ?? []) as unknown[]).map((pair) => {
    const { jwks_url: url, jwks_ca_pem: ca = '' } = (typeof pair === 'object' && pair !== null ? pair : {}) as Record<string, unknown>;
    if (typeof url !== 'string' || url === '' || typeof ca !== 'string') {
      throw new BadRequest('jwks_pairs: each pair is an object with jwks_url and, if needed, jwks_ca_pem');
    }
    return { jwks_url: url, jwks_ca_pem: ca };
  });
}

function checkConfig(config: JwtConfig): void {
  const sources = [
    config.jwt_validation_pubkeys.length > 0,
    config.jwks_url !== '',
    config.jwks_pairs.length > 0,
    config.oidc_discovery_url !== '',
  ];
  checkProvider(config.provider_config);
  if (sources.filter(Boolean).length !== 1) throw new BadRequest(ONE_SOURCE);
  checkClient(config);
  if (config.oidc_discovery_url.includes('.well-known')) throw new BadRequest("'oidc_discovery_url' contains '.well-known' component");
  checkUrl('oidc_discovery_url', config.oidc_discovery_url);
  checkCa('oidc_discovery_ca_pem', config.oidc_discovery_ca_pem);
  checkUrl('jwks_url', config.jwks_url);
  checkCa('jwks_ca_pem', config.jwks_ca_pem);
  for (const pair of config.jwks_pairs) {
    checkUrl('jwks_pairs', pair.jwks_url);
    checkCa('jwks_ca_pem', pair.jwks_ca_pem);
  }
  pemKeys(config.jwt_validation_pubkeys);
  const unsupported = config.jwt_supported_algs.find((name) => !isAlgorithm(name));
  if (unsupported !== undefined) {
    throw new BadRequest(`invalid jwt_supported_algs: unsupported signing algorithm ${JSON.stringify(unsupported)}`);
  }
  checkResponse(config);
}

function checkClient({ oidc_client_id, oidc_client_secret, oidc_discovery_url }: JwtConfig): void {
  if ((oidc_client_id === '') !== (oidc_client_secret === '')) {
    throw new BadRequest("both 'oidc_client_id' and 'oidc_client_secret' must be set for OIDC");
  }
  if (oidc_client_id !== '' && oidc_discovery_url === '') throw new BadRequest("'oidc_discovery_url' must be set for OIDC");
}

function checkResponse({ oidc_response_mode: mode, oidc_response_types: types }: JwtConfig): void {
  if (!['', 'query', 'form_post'].includes(mode)) throw new BadRequest(`invalid response_mode: ${JSON.stringify(mode)}`);
  if (types.some((type) => type !== 'code' && type !== 'id_token')) {
    throw new BadRequest(`invalid response_types [${types.join(' ')}]. 'code' and 'id_token' are allowed`);
  }
  if (mode !== 'form_post' && types.includes('id_token')) {
    throw new BadRequest('query response_mode may not be used with an id_token response_type');
  }
}

function checkUrl(field: string, text: string): void {
  if (text === '') return;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return;
  throw new BadRequest(`${field}: not an address of the form https://host/path`);
}

function checkCa(field: string, pem: string): void {
  const problem = caProblem(pem);
  if (problem !== undefined) throw new BadRequest(`error checking ${field}: ${problem}`);
}
