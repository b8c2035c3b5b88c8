import { X509Certificate } from 'node:crypto';
import type { ConnectionConfiguration } from 'tedious';
import { ConfigurationInvalid } from '@strongroom/database-sdk';
import type { ConnectionTarget, MssqlAddress } from './connection-string.ts';

export interface Encryption {
  /** In the driver's terms: `true` encrypts if the server offers it. */
  readonly encrypt: boolean | 'strict';
  /** Whether to break off, before the login, if it does not. */
  readonly required: boolean;
  readonly trustServerCertificate: boolean;
}

const DEFAULT_PORT = 1433;
const CONNECT_TIMEOUT_SECONDS = 15;
const TRUE = ['true', 'yes', '1', 't', 'mandatory'];
const FALSE = ['false', 'no', '0', 'f', 'optional'];

/**
 * `encrypt` is `true`, `false`, `disable` or `strict`. By default, and with `false`, everything is encrypted if the server offers it and its
 * certificate is not looked at; `tls_ca` and `encrypt=true` insist, and look. Throws ConfigurationInvalid.
 */
export function encryptionOf(parameters: ConnectionTarget['parameters'], tlsCa: string | undefined): Encryption {
  const wanted = parameters.get('encrypt')?.toLowerCase();
  const trusted = flag(parameters, 'trustservercertificate');
  if (wanted === 'disable') {
    if (tlsCa) throw new ConfigurationInvalid('encrypt=disable contradicts tls_ca');
    return { encrypt: false, required: false, trustServerCertificate: true };
  }
  if (wanted === 'strict') return { encrypt: 'strict', required: true, trustServerCertificate: trusted ?? false };
  if (wanted !== undefined && !TRUE.includes(wanted) && !FALSE.includes(wanted))
    throw new ConfigurationInvalid('encrypt in connection_url must be true, false, disable or strict');
  const required = TRUE.includes(wanted ?? '') || Boolean(tlsCa) || trusted === false;
  return { encrypt: true, required, trustServerCertificate: trusted ?? !required };
}

/** What the driver is given for one address. Throws ConfigurationInvalid for what cannot be done. */
export function driverOptions(
  { user, password, database, parameters }: ConnectionTarget,
  { host, port, instance }: MssqlAddress,
  { encrypt, trustServerCertificate }: Encryption,
  tlsCa: string | undefined,
): ConnectionConfiguration {
  const serverName = parameters.get('hostnameincertificate');
  const packetSize = parameters.get('packet size');
  const workstation = parameters.get('wsid');
  return {
    server: host,
    authentication: { type: 'default', options: { userName: user, password } },
    options: {
      ...(instance !== undefined && port === undefined ? { instanceName: instance } : { port: port ?? DEFAULT_PORT }),
      ...(database !== undefined && { database }),
      ...(serverName !== undefined && { serverName }),
      ...(packetSize !== undefined && { packetSize: wholeNumber('packet size', packetSize) }),
      ...(workstation !== undefined && { workstationId: workstation }),
      ...(tlsCa && { cryptoCredentialsDetails: { ca: tlsCa } }),
      encrypt,
      trustServerCertificate,
      appName: parameters.get('app name') ?? 'strongroom',
      connectTimeout: 1000 * timeoutOf(parameters),
      // The caller's deadline ends requests.
      requestTimeout: 0,
      maxRetriesOnTransientErrors: 0,
      readOnlyIntent: parameters.get('applicationintent')?.toLowerCase() === 'readonly',
      multiSubnetFailover: flag(parameters, 'multisubnetfailover') ?? false,
    },
  };
}

/** Complains about settings that would be quietly something else here. */
export function checkParameters({ user, parameters }: ConnectionTarget, tlsCa: string | undefined): void {
  for (const name of [
    'certificate',
    'fedauth',
    'authenticator',
    'integrated security',
    'trusted_connection',
    'serverspn',
    'krb5-configfile',
  ]) {
    if (parameters.has(name))
      throw new ConfigurationInvalid(`${name} in connection_url is not supported: the login is by SQL Server authentication`);
  }
  if (user?.includes('\\')) throw new ConfigurationInvalid('the user of connection_url must be a SQL Server login, not one of Windows');
  if (!tlsCa) return;
  try {
    new X509Certificate(tlsCa);
  } catch {
    throw new ConfigurationInvalid('tls_ca is not usable PEM');
  }
}

function timeoutOf(parameters: ConnectionTarget['parameters']): number {
  for (const name of ['dial timeout', 'connection timeout']) {
    const text = parameters.get(name);
    if (text !== undefined && text !== '0') return wholeNumber(name, text);
  }
  return CONNECT_TIMEOUT_SECONDS;
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new ConfigurationInvalid(`${name} in connection_url must be a whole number`);
}

function flag(parameters: ConnectionTarget['parameters'], name: string): boolean | undefined {
  const text = parameters.get(name)?.toLowerCase();
  if (text === undefined) return undefined;
  if (TRUE.includes(text)) return true;
  if (FALSE.includes(text)) return false;
  throw new ConfigurationInvalid(`${name} in connection_url must be true or false`);
}
