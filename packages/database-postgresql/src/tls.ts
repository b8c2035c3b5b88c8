import { checkServerIdentity, type ConnectionOptions } from 'node:tls';
import { ConfigurationInvalid, requireUsablePem } from '@strongroom/database-sdk';

/** PEM texts of a connection. */
export interface TlsMaterial {
  readonly ca: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** `false`: without TLS. */
export type TlsChoice = ConnectionOptions | false;

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof MODES)[number];

/** libpq's `sslmode`; absent it is `prefer`, or `verify-full` where an authority is given. Throws ConfigurationInvalid. */
export function parseSslMode(text: string | undefined, material: TlsMaterial): SslMode {
  if (text === undefined || text === '') return material.ca ? 'verify-full' : material.certificate ? 'require' : 'prefer';
  const mode = MODES.find((known) => known === text);
  if (!mode) throw new ConfigurationInvalid(`sslmode must be one of ${MODES.join(', ')}`);
  if (mode === 'disable' && (material.ca || material.certificate)) {
    throw new ConfigurationInvalid('sslmode=disable contradicts tls_ca and tls_certificate');
  }
  return mode;
}

/** Complains about PEM texts that cannot be used. Throws ConfigurationInvalid. */
export function checkTlsMaterial({ ca, certificate: cert, key }: TlsMaterial): void {
  if (Boolean(cert) !== Boolean(key)) throw new ConfigurationInvalid('tls_certificate and private_key must be given together');
  if (ca !== undefined) requireUsablePem('tls_ca is not usable PEM', { ca });
  if (cert === undefined || key === undefined) return;
  requireUsablePem('tls_certificate is not usable PEM', { cert });
  requireUsablePem('private_key is not usable PEM', { key });
  requireUsablePem('private_key does not belong to tls_certificate, or is not usable PEM', { cert, key });
}

/** How to try one host, in order: `prefer` tries TLS and then plain text, `allow` the other way round. */
export function tlsChoices(mode: SslMode, host: string, material: TlsMaterial): TlsChoice[] {
  if (mode === 'disable' || host.startsWith('/')) return [false];
  const verifies = mode === 'verify-full' || mode === 'verify-ca' || (mode === 'require' && material.ca !== undefined);
  const tls: ConnectionOptions = {
    rejectUnauthorized: verifies,
    checkServerIdentity: mode === 'verify-full' ? (_, certificate) => checkServerIdentity(host, certificate) : () => undefined,
    ...(material.ca !== undefined && { ca: material.ca }),
    ...(material.certificate !== undefined && { cert: material.certificate }),
    ...(material.key !== undefined && { key: material.key }),
  };
  if (mode === 'prefer') return [tls, false];
  return mode === 'allow' ? [false, tls] : [tls];
}
