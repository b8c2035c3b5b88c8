import type { SecureVersion } from 'node:tls';
import { ConfigurationInvalid, connectionSecrets, type PemMaterial, pemFields, tlsMinVersion } from '@strongroom/database-sdk';
import { OpensearchConnection } from './connection-schema.ts';

export interface OpensearchSettings {
  /** `https://opensearch.example:9200` */
  readonly origin: string;
  /** Of the URL, before the paths of the server; without a slash at its end. */
  readonly prefix: string;
  readonly username: string;
  readonly password: string;
  readonly tls:
    | (PemMaterial & { readonly rejectUnauthorized: boolean; readonly minVersion: SecureVersion; readonly servername?: string })
    | undefined;
  /** What no message may show. */
  readonly secrets: Readonly<Record<string, string>>;
}

const PEM = { ca: 'ca_cert', cert: 'client_cert', key: 'client_key' } as const;

/** Checks a connection without making it. Throws ConfigurationInvalid. */
export function opensearchSettings(config: OpensearchConnection): OpensearchSettings {
  for (const field of ['url', 'username', 'password'] as const) {
    if (!config[field]) throw new ConfigurationInvalid(`${field} cannot be empty`);
  }
  const { username, password } = config;
  // HTTP's basic authentication takes all after the first colon for the password.
  if (username.includes(':')) throw new ConfigurationInvalid('username must not contain a colon');
  const url = parsed(config.url);
  const minVersion = tlsMinVersion(config.tls_min_version);
  for (const field of Object.values(PEM)) {
    if (config[field] && !config[field].includes('-----BEGIN ')) {
      throw new ConfigurationInvalid(`${field} must be PEM, not the path of a file`);
    }
  }
  const material = pemFields(config, PEM);
  const { tls_server_name: servername, insecure } = config;
  if (url.protocol === 'http:' && (Object.keys(material).length > 0 || servername || insecure)) {
    throw new ConfigurationInvalid('ca_cert, client_cert, tls_server_name and insecure mean nothing with a url of http');
  }
  return {
    origin: url.origin,
    prefix: url.pathname.replace(/\/+$/, ''),
    username,
    password,
    tls:
      url.protocol === 'https:' ? { ...material, rejectUnauthorized: !insecure, minVersion, ...(servername && { servername }) } : undefined,
    secrets: connectionSecrets(OpensearchConnection, config),
  };
}

function parsed(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ConfigurationInvalid('url must be like https://opensearch.example:9200');
  }
  if (url.username || url.password) throw new ConfigurationInvalid('url must not contain a user or a password: use username and password');
  if (url.search || url.hash) throw new ConfigurationInvalid('url must not contain a query or a fragment');
  return url;
}
