import { decodePercent, hostAndPort, portNumber, takeUrlApart } from '@strongroom/database-knex';
import { ConfigurationInvalid, renderConnectionUrl } from '@strongroom/database-sdk';
import type { PostgresqlConnection } from './connection-schema.ts';

/** What a connection string says, in libpq's terms. */
export interface ConnectionTarget {
  /** Tried in order. A host that starts with `/` is the folder of a Unix socket. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** The other keywords, such as `sslmode`. */
  readonly parameters: ReadonlyMap<string, string>;
}

const DEFAULT_PORT = 5432;

const malformed = (): ConfigurationInvalid =>
  new ConfigurationInvalid(
    'unable to parse connection url: it must be like postgresql://{{username}}:{{password}}@host:5432/name or ' +
      'host=… port=5432 user={{username}} password={{password}} dbname=name',
  );

/** Where the settings of a connection lead, with its user name and password put in. Throws ConfigurationInvalid. */
export function targetOf(config: PostgresqlConnection): ConnectionTarget {
  const url = renderConnectionUrl(config.connection_url ?? '', config, { disableEscaping: config.disable_escaping });
  const target = parseConnectionString(url);
  return { ...target, user: target.user ?? (config.username || undefined), password: target.password ?? config.password };
}

/** Reads a `postgresql://` URL or a keyword string as libpq does, several hosts included. Throws ConfigurationInvalid without the string. */
export function parseConnectionString(text: string): ConnectionTarget {
  const trimmed = text.trim();
  if (trimmed === '') throw new ConfigurationInvalid('connection_url cannot be empty');
  return toTarget(/^postgres(?:ql)?:\/\//i.test(trimmed) ? parseUrl(trimmed) : parseKeywords(trimmed));
}

/** What stands before the `?` has other names behind it, which count more. */
function parseUrl(url: string): Map<string, string> {
  const { user, password = '', authority, path, parameters } = takeUrlApart(url, malformed, { plusIsBlank: false });
  const places = authority.split(',').map((entry) => hostAndPort(entry, malformed));
  const host = decodePercent(places.map((place) => place.host).join(','), malformed);
  const port = places.map((place) => place.port).join(',');
  const found = [...Object.entries({ host, port, user, password, dbname: path }), ...parameters];
  return new Map(found.filter(([, value]) => value !== ''));
}

function parseKeywords(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const pair = /\s*(\w+)\s*=\s*(?:'((?:\\[^]|[^'\\])*)'|((?:\\[^]|[^\s'\\])*))(?=\s|$)\s*/y;
  while (pair.lastIndex < text.length) {
    const match = pair.exec(text);
    if (!match) throw malformed();
    found.set(match[1]!, (match[2] ?? match[3] ?? '').replace(/\\([^])/g, '$1'));
  }
  return found;
}

function toTarget(found: Map<string, string>): ConnectionTarget {
  const take = (...keys: string[]): string | undefined => {
    const [value] = keys.flatMap((key) => found.get(key) ?? []);
    for (const key of keys) found.delete(key);
    return value === '' ? undefined : value;
  };
  const address = take('hostaddr');
  const hosts = (take('host') ?? address ?? 'localhost').split(',');
  const ports = (take('port') ?? '').split(',');
  if (ports.length > 1 && ports.length !== hosts.length) throw new ConfigurationInvalid('connection_url names more ports than hosts');
  return {
    hosts: hosts.map((host, index) => ({
      host: host || 'localhost',
      port: portNumber(ports[ports.length > 1 ? index : 0] || String(DEFAULT_PORT)),
    })),
    user: take('user', 'username'),
    password: take('password'),
    database: take('dbname', 'database'),
    parameters: found,
  };
}
