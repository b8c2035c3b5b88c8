import type { SecureVersion } from 'node:tls';
import { ConfigurationInvalid } from './errors.ts';

const VERSIONS: Readonly<Record<string, SecureVersion>> = { tls10: 'TLSv1', tls11: 'TLSv1.1', tls12: 'TLSv1.2', tls13: 'TLSv1.3' };

/** The version that a field `tls_min_version` means, TLS 1.2 by default. Throws ConfigurationInvalid. */
export function tlsMinVersion(text: string | undefined): SecureVersion {
  const version = VERSIONS[text || 'tls12'];
  if (!version) throw new ConfigurationInvalid(`tls_min_version must be one of ${Object.keys(VERSIONS).join(', ')}`);
  return version;
}
