import { ConfigurationInvalid, connectionSecrets, requireUsablePem } from '@strongroom/database-sdk';
import { Neo4jConnection } from './connection-schema.ts';

export interface Neo4jSettings {
  /** As the operator wrote it, for messages: `neo4j+s://graph.example:7687`. */
  readonly address: string;
  /** As the driver takes it: with `tlsCa`, without the `+s`, because it accepts no authorities beside that. */
  readonly driverUrl: string;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** PEM of the only authorities to trust; undefined: those of the system, or no TLS. */
  readonly tlsCa: string | undefined;
  /** What no message may show. */
  readonly secrets: Readonly<Record<string, string>>;
}

const DEFAULT_PORT = 7687;
const SCHEMES = ['bolt', 'bolt+s', 'neo4j', 'neo4j+s'];

/** Checks a connection without making it. Throws ConfigurationInvalid. */
export function neo4jSettings(config: Neo4jConnection): Neo4jSettings {
  for (const field of ['connection_url', 'username', 'password'] as const) {
    if (!config[field]) throw new ConfigurationInvalid(`${field} cannot be empty`);
  }
  const { username, password, tls_ca } = config;
  const { scheme, url } = parsed(config.connection_url);
  const tlsCa = tls_ca || undefined;
  if (tlsCa !== undefined) {
    if (!scheme.endsWith('+s'))
      throw new ConfigurationInvalid(`tls_ca means nothing with a connection_url of ${scheme}://: use ${scheme}+s://`);
    if (!tlsCa.includes('-----BEGIN ')) throw new ConfigurationInvalid('tls_ca must be PEM, not the path of a file');
    requireUsablePem('tls_ca is not usable PEM', { ca: tlsCa });
  }
  const port = Number(url.port) || DEFAULT_PORT;
  const address = `${scheme}://${url.hostname}:${port}`;
  const routing = url.search;
  return {
    address,
    driverUrl: (tlsCa === undefined ? address : address.replace('+s:', ':')) + routing,
    host: url.hostname,
    port,
    username,
    password,
    tlsCa,
    secrets: connectionSecrets(Neo4jConnection, config),
  };
}

function parsed(text: string): { readonly scheme: string; readonly url: URL } {
  const scheme = /^([a-z][a-z0-9+]*):\/\//i.exec(text)?.[1]?.toLowerCase() ?? '';
  if (scheme.endsWith('+ssc'))
    throw new ConfigurationInvalid(`connection_url: ${scheme} accepts any certificate: use ${scheme.slice(0, -2)} with tls_ca`);
  // As a scheme that URL knows well: it leaves the hosts of others as they are.
  const plain = `http${text.slice(scheme.length)}`;
  const url = SCHEMES.includes(scheme) && URL.canParse(plain) ? new URL(plain) : undefined;
  // URL leaves out the port that http has anyway.
  if (url && /^[^/]*:\/\/[^/?#]*:80(?:[/?#]|$)/.test(text)) throw new ConfigurationInvalid('connection_url: 80 is no port of Neo4j');
  if (!url) throw new ConfigurationInvalid('connection_url must be like neo4j+s://graph.example:7687');
  if (url.username || url.password)
    throw new ConfigurationInvalid('connection_url must not contain a user or a password: use username and password');
  if (url.pathname !== '/' || url.hash)
    throw new ConfigurationInvalid('connection_url must not contain a path or a fragment: users belong to no database');
  if (url.search && scheme.startsWith('bolt'))
    throw new ConfigurationInvalid('connection_url: only neo4j:// takes a query, the routing context');
  return { scheme, url };
}
