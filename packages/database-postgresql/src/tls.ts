import { checkServerIdentity, type ConnectionOptions } from 'node:tls';
import { ConfigurationInvalid, pemFields, type PemMaterial } from '@strongroom/database-sdk';
import type { PostgresqlConnection } from './connection-schema.ts';

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof MODES)[number];

type TlsFields = Partial<Pick<PostgresqlConnection, 'tls_ca' | 'tls_certificate' | 'private_key'>>;

/** libpq's `sslmode`; absent it is `prefer`, or `verify-full` where an authority is given. Throws ConfigurationInvalid. */
export function parseSslMode(text: string | undefined, { tls_ca: ca, tls_certificate: cert }: TlsFields): SslMode {
  const mode = MODES.find((known) => known === (text || (ca ? 'verify-full' : cert ? 'require' : 'prefer')));
  if (!mode) throw new ConfigurationInvalid(`sslmode must be one of ${MODES.join(', ')}`);
  if (mode === 'disable' && (ca || cert)) throw new ConfigurationInvalid('sslmode=disable contradicts tls_ca and tls_certificate');
  return mode;
}

/** The PEM texts of a connection. Throws ConfigurationInvalid for those that cannot be used. */
export function pemOf(config: TlsFields): PemMaterial {
  return pemFields(config, { ca: 'tls_ca', cert: 'tls_certificate', key: 'private_key' });
}

/** How to try one host, in order: `prefer` tries TLS and then plain text, `allow` the other way round. `false`: without TLS. */
export function tlsChoices(mode: SslMode, host: string, pem: PemMaterial): (ConnectionOptions | false)[] {
  if (mode === 'disable' || host.startsWith('/')) return [false];
  const tls: ConnectionOptions = {
    ...pem,
    rejectUnauthorized: mode === 'verify-full' || mode === 'verify-ca' || (mode === 'require' && pem.ca !== undefined),
    checkServerIdentity: mode === 'verify-full' ? (_, certificate) => checkServerIdentity(host, certificate) : () => undefined,
  };
  if (mode === 'prefer') return [tls, false];
  return mode === 'allow' ? [false, tls] : [tls];
}
