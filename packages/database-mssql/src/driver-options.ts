import { isIP } from 'node:net';
import { booleanWord, flagParameter, numberParameter } from '@strongroom/database-knex';
import { ConfigurationInvalid, present, requireUsablePem } from '@strongroom/database-sdk';
import type { ConnectionConfiguration } from 'tedious';
import type { MssqlAddress, MssqlTarget } from './connection-string.ts';

/** `encrypt` is in the driver's terms, by which `true` encrypts if the server offers it; `required`: break off, before the login, if it does not. */
export type Encryption = ReturnType<typeof encryptionOf>;

const DEFAULT_PORT = 1433;
const CONNECT_TIMEOUT_SECONDS = 15;
/** Sent as the name of a server that is an IP address: Node 24 and later refuse that as a name, and tedious sends it. */
const NO_NAME = 'ip-address.invalid';

/** Ways to log in, and what belongs to them, that would quietly be something else here. */
const UNSUPPORTED = 'certificate|fedauth|authenticator|integrated security|trusted_connection|serverspn|krb5-configfile'.split('|');

/**
 * `encrypt` is `true`, `false`, `disable` or `strict`. By default, and with `false`, everything is encrypted if the server offers it and its
 * certificate is not looked at; `tls_ca` and `encrypt=true` insist, and look. Throws ConfigurationInvalid.
 */
export function encryptionOf(parameters: MssqlTarget['parameters'], tlsCa: string | undefined) {
  const wanted = parameters.get('encrypt')?.toLowerCase();
  const trusted = flagParameter(parameters, 'trustservercertificate');
  if (wanted === 'disable') {
    if (tlsCa) throw new ConfigurationInvalid('encrypt=disable contradicts tls_ca');
    return { encrypt: false, required: false, trustServerCertificate: true };
  }
  if (wanted === 'strict') return { encrypt: 'strict' as const, required: true, trustServerCertificate: trusted ?? false };
  if (wanted !== undefined && booleanWord(wanted) === undefined)
    throw new ConfigurationInvalid('encrypt in connection_url must be true, false, disable or strict');
  const required = booleanWord(wanted) === true || Boolean(tlsCa) || trusted === false;
  return { encrypt: true, required, trustServerCertificate: trusted ?? !required };
}

/** What the driver is given for one address. Throws ConfigurationInvalid for what cannot be done. */
export function driverOptions(target: MssqlTarget, { host, port, instance }: MssqlAddress, encryption: Encryption, ca?: string) {
  const { user: userName, password, database, parameters } = target;
  const unnamed = encryption.trustServerCertificate && isIP(host) !== 0 ? NO_NAME : undefined;
  const [serverName, workstationId] = [parameters.get('hostnameincertificate') ?? unnamed, parameters.get('wsid')];
  const packetSize = numberParameter(parameters, 'packet size');
  const timeout =
    numberParameter(parameters, 'dial timeout') || numberParameter(parameters, 'connection timeout') || CONNECT_TIMEOUT_SECONDS;
  return {
    server: host,
    authentication: { type: 'default', options: { userName, password } },
    options: {
      ...(instance !== undefined && port === undefined ? { instanceName: instance } : { port: port ?? DEFAULT_PORT }),
      ...present({ database, serverName, packetSize, workstationId, cryptoCredentialsDetails: ca ? { ca } : undefined }),
      encrypt: encryption.encrypt,
      trustServerCertificate: encryption.trustServerCertificate,
      appName: parameters.get('app name') ?? 'strongroom',
      connectTimeout: 1000 * timeout,
      // The caller's deadline ends requests.
      requestTimeout: 0,
      maxRetriesOnTransientErrors: 0,
      readOnlyIntent: parameters.get('applicationintent')?.toLowerCase() === 'readonly',
      multiSubnetFailover: flagParameter(parameters, 'multisubnetfailover') ?? false,
    },
  } satisfies ConnectionConfiguration;
}

/** Complains about settings that would be quietly something else here. */
export function checkParameters({ user, parameters }: MssqlTarget, tlsCa: string | undefined): void {
  const unsupported = UNSUPPORTED.find((name) => parameters.has(name));
  if (unsupported !== undefined)
    throw new ConfigurationInvalid(`${unsupported} in connection_url is not supported: the login is by SQL Server authentication`);
  if (user?.includes('\\')) throw new ConfigurationInvalid('the user of connection_url must be a SQL Server login, not one of Windows');
  if (tlsCa) requireUsablePem('tls_ca is not usable PEM', { ca: tlsCa });
}
