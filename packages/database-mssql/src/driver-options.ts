import type { ConnectionConfiguration } from 'tedious';
import { ConfigurationInvalid, requireUsablePem } from '@strongroom/database-sdk';
import type { MssqlAddress, MssqlTarget } from './connection-string.ts';

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

/** Ways to log in, and what belongs to them, that would quietly be something else here. */
const UNSUPPORTED = 'certificate|fedauth|authenticator|integrated security|trusted_connection|serverspn|krb5-configfile'.split('|');

/**
 * `encrypt` is `true`, `false`, `disable` or `strict`. By default, and with `false`, everything is encrypted if the server offers it and its
 * certificate is not looked at; `tls_ca` and `encrypt=true` insist, and look. Throws ConfigurationInvalid.
 */
export function encryptionOf(parameters: MssqlTarget['parameters'], tlsCa: string | undefined): Encryption {
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
  { user, password, database, parameters }: MssqlTarget,
  { host, port, instance }: MssqlAddress,
  { encrypt, trustServerCertificate }: Encryption,
  tlsCa: string | undefined,
): ConnectionConfiguration {
  const serverName = parameters.get('hostnameincertificate');
  const workstationId = parameters.get('wsid');
  const packetSize = wholeNumber(parameters, 'packet size');
  return {
    server: host,
    authentication: { type: 'default', options: { userName: user, password } },
    options: {
      ...(instance !== undefined && port === undefined ? { instanceName: instance } : { port: port ?? DEFAULT_PORT }),
      ...(database !== undefined && { database }),
      ...(serverName !== undefined && { serverName }),
      ...(packetSize !== undefined && { packetSize }),
      ...(workstationId !== undefined && { workstationId }),
      ...(tlsCa && { cryptoCredentialsDetails: { ca: tlsCa } }),
      encrypt,
      trustServerCertificate,
      appName: parameters.get('app name') ?? 'strongroom',
      connectTimeout:
        1000 * (wholeNumber(parameters, 'dial timeout') || wholeNumber(parameters, 'connection timeout') || CONNECT_TIMEOUT_SECONDS),
      // The caller's deadline ends requests.
      requestTimeout: 0,
      maxRetriesOnTransientErrors: 0,
      readOnlyIntent: parameters.get('applicationintent')?.toLowerCase() === 'readonly',
      multiSubnetFailover: flag(parameters, 'multisubnetfailover') ?? false,
    },
  };
}

/** Complains about settings that would be quietly something else here. */
export function checkParameters({ user, parameters }: MssqlTarget, tlsCa: string | undefined): void {
  const unsupported = UNSUPPORTED.find((name) => parameters.has(name));
  if (unsupported !== undefined)
    throw new ConfigurationInvalid(`${unsupported} in connection_url is not supported: the login is by SQL Server authentication`);
  if (user?.includes('\\')) throw new ConfigurationInvalid('the user of connection_url must be a SQL Server login, not one of Windows');
  if (tlsCa) requireUsablePem('tls_ca is not usable PEM', { ca: tlsCa });
}

function wholeNumber(parameters: MssqlTarget['parameters'], name: string): number | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new ConfigurationInvalid(`${name} in connection_url must be a whole number`);
}

function flag(parameters: MssqlTarget['parameters'], name: string): boolean | undefined {
  const text = parameters.get(name)?.toLowerCase();
  if (text === undefined) return undefined;
  if (TRUE.includes(text)) return true;
  if (FALSE.includes(text)) return false;
  throw new ConfigurationInvalid(`${name} in connection_url must be true or false`);
}
