import type { SecureVersion } from 'node:tls';
import { parseDuration } from '@strongroom/engine-sdk';
import { ConfigurationInvalid, connectionSecrets, type PemMaterial, pemMaterial } from '@strongroom/database-sdk';
import { InfluxdbConnection } from './connection-schema.ts';

export interface InfluxdbSettings {
  /** `https://db.example:8086` */
  readonly origin: string;
  readonly username: string;
  readonly password: string;
  readonly tls: (PemMaterial & { readonly rejectUnauthorized: boolean; readonly minVersion: SecureVersion }) | undefined;
  readonly connectTimeoutMs: number;
  /** What no message may show. */
  readonly secrets: Readonly<Record<string, string>>;
}

const DEFAULT_PORT = 8086;
const VERSIONS: Readonly<Record<string, SecureVersion>> = { tls10: 'TLSv1', tls11: 'TLSv1.1', tls12: 'TLSv1.2', tls13: 'TLSv1.3' };

/** Checks a connection without making it. Throws ConfigurationInvalid. */
export function influxdbSettings(config: InfluxdbConnection): InfluxdbSettings {
  for (const field of ['host', 'username', 'password'] as const) {
    if (!config[field]) throw new ConfigurationInvalid(`${field} cannot be empty`);
  }
  const { host, username, password } = config;
  if (/[/?#@\s]/.test(host)) throw new ConfigurationInvalid('host must be a name or an address, without scheme and path');
  // HTTP's basic authentication takes all after the first colon for the password.
  if (username.includes(':')) throw new ConfigurationInvalid('username must not hold a colon');
  const material = pemMaterial(config);
  const minVersion = VERSIONS[config.tls_min_version || 'tls12'];
  if (!minVersion) throw new ConfigurationInvalid(`tls_min_version must be one of ${Object.keys(VERSIONS).join(', ')}`);
  const secure = material !== undefined || (config.tls ?? false);
  const address = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return {
    origin: `${secure ? 'https' : 'http'}://${address}:${config.port ?? DEFAULT_PORT}`,
    username,
    password,
    tls: secure ? { ...material, rejectUnauthorized: !config.insecure_tls, minVersion } : undefined,
    connectTimeoutMs: parseTimeout(config.connect_timeout ?? '5s'),
    secrets: connectionSecrets(InfluxdbConnection, config),
  };
}

function parseTimeout(value: string | number): number {
  try {
    const seconds = parseDuration(value);
    if (seconds >= 0) return seconds * 1000;
  } catch {
    // Said below.
  }
  throw new ConfigurationInvalid('connect_timeout must be a duration, such as "5s"');
}
