import { BadRequest, f, requireSecretsAgain } from '@strongroom/engine-sdk';
import { kubernetesHost, requireCertificates, type PodEnvironment } from '@strongroom/kubernetes-client';
import type { ConfigRecord } from './records.ts';

/** The parameters of `config`, with Vault's and OpenBao's names. */
export const configFields = {
  kubernetes_host: f.string(
    'URL of the API server, such as https://10.0.0.1:6443. Default: the cluster of the pod in which this server runs.',
  ),
  kubernetes_ca_cert: f.string('PEM of the CAs to trust for the API server. Default: the CA of the pod in which this server runs.'),
  service_account_jwt: f.secret(
    'Token of the account that creates tokens, and accounts, roles and bindings where roles ask for them. Default: the token of the pod in which this ' +
      'server runs.',
  ),
  disable_local_ca_jwt: f.bool('Do not use the CA and the token of the pod in which this server runs.'),
} as const;

/** What a write sends. */
export type ConfigData = { readonly [K in keyof ConfigRecord]?: ConfigRecord[K] | undefined };

/**
 * What a write makes of the stored record: it changes what it sends. A token that is kept goes to no other server unless the caller has `sudo`.
 * @throws BadRequest that names the parameter
 */
export function writtenConfig(stored: ConfigRecord | undefined, data: ConfigData, pod: PodEnvironment, sudo: boolean): ConfigRecord {
  const host = (data.kubernetes_host ?? stored?.kubernetes_host ?? '') || (pod.host() ?? '');
  if (host === '') throw new BadRequest('kubernetes_host was unset and could not be determined from environment variables');
  const config = {
    kubernetes_host: kubernetesHost(host),
    kubernetes_ca_cert: data.kubernetes_ca_cert ?? stored?.kubernetes_ca_cert ?? '',
    service_account_jwt: (data.service_account_jwt ?? stored?.service_account_jwt ?? '').trim(),
    disable_local_ca_jwt: data.disable_local_ca_jwt ?? stored?.disable_local_ca_jwt ?? false,
  };
  if (config.kubernetes_ca_cert.trim() !== '') requireCertificates(config.kubernetes_ca_cert, 'kubernetes_ca_cert');
  else if (config.disable_local_ca_jwt && config.kubernetes_host.startsWith('https:')) {
    throw new BadRequest('kubernetes_ca_cert must be given when disable_local_ca_jwt is true');
  }
  if (/[^\x21-\x7e]/.test(config.service_account_jwt)) {
    throw new BadRequest('service_account_jwt: not a token; it has a space or another character that no token has');
  }
  const changed = (['kubernetes_host', 'kubernetes_ca_cert'] as const).filter(
    (field) => stored && stored[field].trim() !== config[field].trim(),
  );
  const kept = data.service_account_jwt === undefined && config.service_account_jwt !== '';
  requireSecretsAgain({ changed, kept: kept ? ['service_account_jwt'] : [], sudo });
  return config;
}
