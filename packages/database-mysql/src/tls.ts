import { ConfigurationInvalid, type PemMaterial, requireUsablePem } from '@strongroom/database-sdk';
import type { MysqlConnection } from './connection-schema.ts';

/** How to encrypt, in terms of the driver; `false`: not at all. */
export type TlsChoice = (PemMaterial & { readonly rejectUnauthorized: boolean; readonly verifyIdentity: boolean }) | false;

const TRUE = ['true', '1', 't'];
const FALSE = ['false', '0', 'f'];

/**
 * How to try a server, in order. `tls` of the connection string is `true`, `skip-verify`, `preferred` (the default) or `false`; where the
 * `tls_…` settings are given they encrypt, and check the server unless `tls_skip_verify` says otherwise. Throws ConfigurationInvalid.
 */
export function tlsChoices(parameter: string | undefined, config: MysqlConnection): TlsChoice[] {
  const material = pemOf(config);
  const wanted = parameter?.toLowerCase() ?? '';
  const given = Object.keys(material).length > 0 || Boolean(config.tls_server_name) || config.tls_skip_verify === true;
  const unverified: TlsChoice = { ...material, rejectUnauthorized: false, verifyIdentity: false };
  if (FALSE.includes(wanted)) {
    if (given) throw new ConfigurationInvalid('tls=false contradicts the tls_ settings');
    return [false];
  }
  if (wanted === 'skip-verify' || config.tls_skip_verify) return [unverified];
  if (given || TRUE.includes(wanted)) return [{ ...material, rejectUnauthorized: true, verifyIdentity: true }];
  if (parameter === undefined || wanted === 'preferred') return [unverified, false];
  throw new ConfigurationInvalid('tls must be true, skip-verify, preferred or false; other names need tls_ca or tls_certificate_key');
}

function pemOf({ tls_ca: ca, tls_certificate_key: both }: MysqlConnection): PemMaterial {
  if (ca) requireUsablePem('tls_ca is not usable PEM', { ca });
  if (both && !(both.includes('-----BEGIN CERTIFICATE-----') && /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(both)))
    throw new ConfigurationInvalid('tls_certificate_key must hold a certificate and its private key, both PEM');
  if (both) requireUsablePem('tls_certificate_key is not usable PEM, or its key belongs to another certificate', { cert: both, key: both });
  return { ...(ca && { ca }), ...(both && { cert: both, key: both }) };
}
