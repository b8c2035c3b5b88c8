import { ConnectionReader, type ConnectionTarget, takeKey } from '@strongroom/database-knex';
import { ConfigurationInvalid, renderConnectionUrl } from '@strongroom/database-sdk';
import type { PostgresqlConnection } from './connection-schema.ts';

/** In libpq's terms. A host that starts with `/` is the folder of a Unix socket. */
export type PostgresqlTarget = ConnectionTarget<{ readonly host: string; readonly port: number }>;

const reader = new ConnectionReader({
  examples: [
    'postgresql://{{username}}:{{password}}@host:5432/name',
    'host=… port=5432 user={{username}} password={{password}} dbname=name',
  ],
  defaultPort: 5432,
  plusIsBlank: false,
});

/** Where the settings of a connection lead, with its user name and password put in. Throws ConfigurationInvalid. */
export function targetOf(config: PostgresqlConnection): PostgresqlTarget {
  const url = renderConnectionUrl(config.connection_url ?? '', config, { disableEscaping: config.disable_escaping });
  const target = parseConnectionString(url);
  return { ...target, user: target.user ?? (config.username || undefined), password: target.password ?? config.password };
}

/** Reads a `postgresql://` URL or a keyword string as libpq does, several hosts included. Throws ConfigurationInvalid without the string. */
export function parseConnectionString(text: string): PostgresqlTarget {
  const url = reader.given(text);
  return toTarget(/^postgres(?:ql)?:\/\//i.test(url) ? parseUrl(url) : parseKeywords(url));
}

/** What stands before the `?` has other names behind it, which count more. */
function parseUrl(url: string): Map<string, string> {
  const { user, password = '', authority, path, parameters } = reader.url(url);
  const places = authority.split(',').map((entry) => reader.place(entry));
  const host = reader.decode(places.map((place) => place.host).join(','));
  const port = places.map((place) => place.port).join(',');
  const found = [...Object.entries({ host, port, user, password, dbname: path }), ...parameters];
  return new Map(found.filter(([, value]) => value !== ''));
}

function parseKeywords(text: string): Map<string, string> {
  const pair = /\s*(\w+)\s*=\s*(?:'((?:\\[^]|[^'\\])*)'|((?:\\[^]|[^\s'\\])*))(?=\s|$)\s*/y;
  return reader.pairs(text, pair, (quoted, bare) => (quoted ?? bare ?? '').replace(/\\([^])/g, '$1'));
}

function toTarget(found: Map<string, string>): PostgresqlTarget {
  const address = takeKey(found, 'hostaddr');
  const hosts = (takeKey(found, 'host') ?? address ?? 'localhost').split(',');
  const ports = (takeKey(found, 'port') ?? '').split(',');
  if (ports.length > 1 && ports.length !== hosts.length) throw new ConfigurationInvalid('connection_url names more ports than hosts');
  return {
    addresses: hosts.map((host, index) => ({
      host: host || 'localhost',
      port: reader.port(ports[ports.length > 1 ? index : 0] ?? ''),
    })),
    user: takeKey(found, 'user', 'username'),
    password: takeKey(found, 'password'),
    database: takeKey(found, 'dbname', 'database'),
    parameters: found,
  };
}
