import { createSecureContext } from 'node:tls';
import { ConfigurationInvalid, connectionSecrets, renderConnectionUrl } from '@strongroom/database-sdk';
import { RedisConnection } from './connection-schema.ts';

export type Persistence = 'none' | 'aclfile' | 'rewrite';

export interface TlsSettings {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly rejectUnauthorized: boolean;
}

export interface RedisSettings {
  readonly host: string;
  readonly port: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: TlsSettings | undefined;
  readonly persistence: Persistence;
  /** What no message may show. */
  readonly secrets: Readonly<Record<string, string>>;
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

const SCHEMES: Readonly<Record<string, { tls: boolean }>> = {
  'redis:': { tls: false },
  'valkey:': { tls: false },
  'rediss:': { tls: true },
  'valkeys:': { tls: true },
};
const DEFAULT_PORT = 6379;

/** Checks a connection without making it. Throws ConfigurationInvalid. */
export function redisSettings(config: RedisConnection): RedisSettings {
  const address = config.connection_url ? fromUrl(config) : fromHost(config);
  const username = address.username || config.username || undefined;
  const password = address.password || config.password || undefined;
  if (username && !password) throw new ConfigurationInvalid('password cannot be empty where there is a username');
  return {
    host: address.host,
    port: address.port,
    username,
    password,
    tls: address.tls ? tlsSettings(config) : withoutTls(config),
    persistence: parsePersistence(config.persistence_mode),
    secrets: { ...connectionSecrets(RedisConnection, config), ...(password && { password }) },
  };
}

function fromHost({ host, port, tls }: RedisConnection): Address {
  if (!host) throw new ConfigurationInvalid('host cannot be empty');
  return { host, port: port ?? DEFAULT_PORT, tls: tls ?? false };
}

function fromUrl(config: RedisConnection): Address {
  if (config.host) throw new ConfigurationInvalid('host and connection_url cannot both be given');
  let url: URL;
  try {
    url = new URL(renderConnectionUrl(config.connection_url!, config, { disableEscaping: config.disable_escaping }));
    const scheme = SCHEMES[url.protocol];
    if (!scheme || url.hostname === '' || !/^(?:\/\d*)?$/.test(url.pathname)) throw new Error('not an address');
    return {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port ? Number(url.port) : DEFAULT_PORT,
      tls: scheme.tls || (config.tls ?? false),
      username: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    };
  } catch {
    throw new ConfigurationInvalid('unable to parse connection url: it must be like redis://{{username}}:{{password}}@host:6379');
  }
}

function withoutTls({ insecure_tls, ca_cert, tls_certificate }: RedisConnection): undefined {
  if (ca_cert || tls_certificate || insecure_tls)
    throw new ConfigurationInvalid('ca_cert, tls_certificate and insecure_tls mean nothing without tls');
  return undefined;
}

function tlsSettings({ insecure_tls, ca_cert: ca, tls_certificate: cert, private_key: key }: RedisConnection): TlsSettings {
  if (Boolean(cert) !== Boolean(key)) throw new ConfigurationInvalid('tls_certificate and private_key must be given together');
  if (ca) {
    if (!ca.includes('-----BEGIN CERTIFICATE-----')) throw new ConfigurationInvalid('ca_cert is not usable PEM');
    requireUsable('ca_cert is', { ca });
  }
  if (cert && key) requireUsable('tls_certificate and private_key are', { cert, key });
  return { ...(ca && { ca }), ...(cert && key && { cert, key }), rejectUnauthorized: !insecure_tls };
}

function requireUsable(what: string, material: object): void {
  try {
    createSecureContext(material);
  } catch {
    throw new ConfigurationInvalid(`${what} not usable PEM`);
  }
}

function parsePersistence(text: string | undefined): Persistence {
  switch (text?.toLowerCase() ?? '') {
    case '':
    case 'none':
      return 'none';
    case 'aclfile':
      return 'aclfile';
    case 'rewrite':
      return 'rewrite';
    default:
      throw new ConfigurationInvalid('persistence_mode must be ACLFILE or REWRITE');
  }
}
