import { createSecureContext } from 'node:tls';
import type { MongoClientOptions } from 'mongodb';
import { ConfigurationInvalid, connectionSecrets, connectionUrlSecrets, renderConnectionUrl } from '@strongroom/database-sdk';
import { MongodbConnection } from './connection-schema.ts';
import { parseWriteConcern, type WriteConcern } from './write-concern.ts';

export interface MongodbSettings {
  readonly url: string;
  readonly options: MongoClientOptions;
  readonly writeConcern: WriteConcern | undefined;
  /** What no message may show. */
  readonly secrets: Readonly<Record<string, string>>;
}

const SERVER_SELECTION_TIMEOUT_MS = 10_000;
const MAX_POOL_SIZE = 10;
/** Options of URLs that name files of this machine. */
const FILES = /[?&](tlsCAFile|tlsCertificateKeyFile|tlsCRLFile|sslCA|sslCert|sslKey|sslCRL)=/i;

/** Checks a connection as far as that is possible without the driver. Throws ConfigurationInvalid. */
export function mongodbSettings(config: MongodbConnection): MongodbSettings {
  const { connection_url, username, password, tls_ca: ca, tls_certificate_key: pem } = config;
  if (!connection_url) throw new ConfigurationInvalid('connection_url cannot be empty');
  const url = renderConnectionUrl(connection_url.trim(), config, { disableEscaping: config.disable_escaping, form: 'url' });
  if (!/^mongodb(\+srv)?:\/\//.test(url)) throw new ConfigurationInvalid('connection_url must begin with mongodb:// or mongodb+srv://');
  const file = FILES.exec(url)?.[1];
  if (file !== undefined)
    throw new ConfigurationInvalid(`connection_url must not name files (${file}); give tls_ca and tls_certificate_key`);
  if (ca) checkPem('tls_ca', ca, { ca });
  if (pem) checkPem('tls_certificate_key', pem, { cert: pem, key: pem });
  const namesUser = /^[^/]+:\/\/[^/?]*@/.test(url);
  const says = (option: string): boolean => new RegExp(`[?&]${option}=`, 'i').test(url);
  return {
    // The driver takes a user without a password from the URL alone.
    url: !namesUser && pem && username ? url.replace('://', `://${encodeURIComponent(username)}@`) : url,
    options: {
      appName: 'strongroom',
      ...(!says('serverSelectionTimeoutMS') && { serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS }),
      ...(!says('maxPoolSize') && { maxPoolSize: MAX_POOL_SIZE }),
      ...((ca || pem) && { tls: true }),
      ...(ca && { ca }),
      ...(pem && { cert: pem, key: pem }),
      ...(!namesUser && loginOutsideUrl(username, password, pem)),
    },
    writeConcern: parseWriteConcern(config.write_concern),
    secrets: { ...connectionSecrets(MongodbConnection, config), ...urlSecrets(url) },
  };
}

/** A URL without a user may leave the login to a certificate or to `username` and `password`. */
function loginOutsideUrl(username?: string, password?: string, certificate?: string): MongoClientOptions {
  if (certificate) return { authMechanism: 'MONGODB-X509' };
  return username && password ? { auth: { username, password } } : {};
}

function checkPem(field: string, pem: string, material: object): void {
  try {
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('no certificate');
    createSecureContext(material);
  } catch {
    throw new ConfigurationInvalid(`${field} is not usable PEM${field === 'tls_ca' ? '' : ' of a certificate and its key'}`);
  }
}

function urlSecrets(url: string): Record<string, string> {
  return Object.fromEntries(connectionUrlSecrets(url).map((secret, index) => [index === 0 ? 'password' : `password ${index}`, secret]));
}
