import type { SecureVersion } from 'node:tls';
import {
  ConfigurationInvalid,
  connectionSecrets,
  durationSetting,
  type PemMaterial,
  pemMaterial,
  tlsMinVersion,
} from '@strongroom/database-sdk';
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
  const minVersion = tlsMinVersion(config.tls_min_version);
  const secure = material !== undefined || (config.tls ?? false);
  const address = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return {
    origin: `${secure ? 'https' : 'http'}://${address}:${config.port ?? DEFAULT_PORT}`,
    username,
    password,
    tls: secure ? { ...material, rejectUnauthorized: !config.insecure_tls, minVersion } : undefined,
    connectTimeoutMs: 1000 * durationSetting('connect_timeout', config.connect_timeout ?? '5s', '5s', 0),
    secrets: connectionSecrets(InfluxdbConnection, config),
  };
}
