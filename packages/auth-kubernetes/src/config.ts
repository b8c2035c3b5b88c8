import { BadRequest, f } from '@strongroom/engine-sdk';
import { kubernetesHost, requireCertificates } from '@strongroom/kubernetes-client';
import { Type, type Static } from 'typebox';
import { publicKeys } from './pem-keys.ts';

/** What the issuer of tokens is where issuers are checked and none is set. */
export const LEGACY_ISSUER = 'kubernetes/serviceaccount';

/** The parameters of `config`, with Vault's and OpenBao's names. */
export const configFields = {
  kubernetes_host: f.string('URL of the API server, such as https://10.0.0.1:6443.'),
  kubernetes_ca_cert: f.string('PEM of the CAs to trust for the API server. Default: the CA of the pod in which this server runs.'),
  token_reviewer_jwt: f.secret(
    'Token of an account that can review tokens (ClusterRole system:auth-delegator). Default: the token of the pod in which this server runs; outside ' +
      'a pod, each token reviews itself.',
  ),
  pem_keys: f.commaStrings(
    'PEM of public keys or certificates of the issuer. If set, this server verifies signatures before it calls the API server.',
  ),
  disable_local_ca_jwt: f.bool('Do not use the CA and the token of the pod in which this server runs.'),
  issuer: f.string('The required issuer of tokens.'),
  disable_iss_validation: f.bool('Do not check the issuer; the API server still does. Default: true, or false if issuer is set.'),
} as const;

/** The record at `config`. */
export const KubernetesConfig = Type.Object({
  kubernetes_host: Type.String(),
  kubernetes_ca_cert: Type.String(),
  token_reviewer_jwt: Type.String(),
  pem_keys: Type.Array(Type.String()),
  disable_local_ca_jwt: Type.Boolean(),
  issuer: Type.String(),
  disable_iss_validation: Type.Boolean(),
});
export type KubernetesConfig = Static<typeof KubernetesConfig>;

/** What a write sends. */
export type ConfigData = { readonly [K in keyof KubernetesConfig]?: KubernetesConfig[K] | undefined };

/**
 * What a write makes of the stored record: everything is replaced, but the reviewer's token stays where the host does.
 * @throws BadRequest that names the parameter
 */
export function writtenConfig(stored: KubernetesConfig | undefined, data: ConfigData): KubernetesConfig {
  const host = kubernetesHost(data.kubernetes_host ?? '');
  const issuer = data.issuer ?? '';
  const kept = stored?.kubernetes_host === host ? stored.token_reviewer_jwt : '';
  const config = {
    kubernetes_host: host,
    kubernetes_ca_cert: data.kubernetes_ca_cert ?? '',
    token_reviewer_jwt: (data.token_reviewer_jwt ?? kept).trim(),
    pem_keys: data.pem_keys ?? [],
    disable_local_ca_jwt: data.disable_local_ca_jwt ?? false,
    issuer,
    disable_iss_validation: data.disable_iss_validation ?? issuer === '',
  };
  if (config.kubernetes_ca_cert.trim() !== '') requireCertificates(config.kubernetes_ca_cert, 'kubernetes_ca_cert');
  else if (config.disable_local_ca_jwt) throw new BadRequest('kubernetes_ca_cert must be given when disable_local_ca_jwt is true');
  if (/[^\x21-\x7e]/.test(config.token_reviewer_jwt))
    throw new BadRequest('token_reviewer_jwt: not a token; it has a space or another character that no token has');
  publicKeys(config.pem_keys);
  return config;
}

/** The fields whose new value would send the kept reviewer's token to another server. */
export function reviewerMoves(stored: KubernetesConfig | undefined, written: KubernetesConfig): string[] {
  return stored && stored.kubernetes_ca_cert.trim() !== written.kubernetes_ca_cert.trim() ? ['kubernetes_ca_cert'] : [];
}

/** What a read shows. */
export function shownConfig({ token_reviewer_jwt, ...config }: KubernetesConfig): Record<string, unknown> {
  return { ...config, token_reviewer_jwt_set: token_reviewer_jwt !== '' };
}
