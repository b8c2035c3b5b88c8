import { X509Certificate } from 'node:crypto';
import { BadRequest } from '@strongroom/engine-sdk';
import type { PodFiles } from './pod-files.ts';

const BLOCK = /-----BEGIN [A-Z0-9 ]+-----[^-]+-----END [A-Z0-9 ]+-----/g;

/** The URL of an API server as it is stored: without a slash at its end. @throws BadRequest */
export function kubernetesHost(text: string): string {
  const trimmed = text.trim().replace(/\/+$/, '');
  if (trimmed === '') throw new BadRequest('no host provided');
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  const plain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!plain || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new BadRequest(`kubernetes_host: ${JSON.stringify(trimmed)} is not the URL of an API server; write https://host:port`);
  }
  return trimmed;
}

/** What is allowed of a URL, but likely a mistake. */
export function hostWarnings(host: string): string[] {
  const { protocol, hostname } = new URL(host);
  if (protocol === 'https:' || /^(localhost|127\..*|\[::1\])$/.test(hostname)) return [];
  return ['kubernetes_host: tokens are sent over the network without encryption; use https'];
}

/** @throws BadRequest that names the field */
export function requireCertificates(pem: string, field: string): void {
  try {
    const blocks = pem.match(BLOCK) ?? [];
    for (const block of blocks) new X509Certificate(block);
    if (blocks.length > 0) return;
  } catch {
    // Answered below.
  }
  throw new BadRequest(`${field}: not a certificate; send the PEM of the cluster's CA, as in ca.crt of a service account`);
}

/** Where a mount's API server is, as it is configured. */
export interface ConfiguredAddress {
  readonly kubernetes_host: string;
  /** PEM; '' for the CA of the pod. */
  readonly kubernetes_ca_cert: string;
}

/** The CAs that vouch for the API server; undefined for `http`. @throws BadRequest */
export async function trustedCa(config: ConfiguredAddress, pod: PodFiles): Promise<string | undefined> {
  if (config.kubernetes_host.startsWith('http:')) return undefined;
  if (config.kubernetes_ca_cert.trim() !== '') return config.kubernetes_ca_cert;
  const ca = await pod.ca();
  if (ca === undefined)
    throw new BadRequest(
      `kubernetes_ca_cert: there is no ca.crt in ${pod.folder}, so this server is in no pod; send the PEM of the cluster's CA`,
    );
  return ca;
}

/** Whether the pod's own CA vouches for the API server. The token of the pod goes only to such a server: whoever writes the configuration must not have it sent elsewhere. */
export async function isOwnCluster(config: ConfiguredAddress, pod: PodFiles): Promise<boolean> {
  const ca = await trustedCa(config, pod);
  return ca !== undefined && ca.trim() === (await pod.ca())?.trim();
}
