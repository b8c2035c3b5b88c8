import { ConnectionReader, type ConnectionTarget, fillPlaceholders, takeKey } from '@strongroom/database-knex';
import type { MssqlConnection } from './connection-schema.ts';

/** Where a server listens: on a port, or where the browser service says that an instance does. */
export interface MssqlAddress {
  readonly host: string;
  readonly port: number | undefined;
  readonly instance: string | undefined;
}

/** The server and, if there is one, its failover partner. Parameters are in small letters, blanks kept: `app name`. */
export type MssqlTarget = ConnectionTarget<MssqlAddress>;

type MssqlLogin = Pick<MssqlConnection, 'username' | 'password' | 'disable_escaping'>;

/** Other names of the same keys, those of ADO and ODBC. */
const SYNONYMS = new Map(
  Object.entries({
    server: ['addr', 'address', 'data source', 'network address'],
    database: ['initial catalog'],
    'user id': ['user', 'uid', 'username'],
    password: ['pwd'],
    'app name': ['app', 'application name', 'applicationname'],
    wsid: ['workstation id'],
    trustservercertificate: ['trust server certificate'],
    hostnameincertificate: ['host name in certificate'],
    applicationintent: ['application intent'],
    'connection timeout': ['connect timeout', 'timeout'],
    failoverpartner: ['failover partner', 'failover_partner'],
  }).flatMap(([key, names]) => names.map((name) => [name, key])),
);

const reader = new ConnectionReader({
  examples: [
    'sqlserver://{{username}}:{{password}}@host:1433?database=name',
    'server=host,1433;user id={{username}};password={{password}};database=name',
  ],
  defaultPort: 1433,
  plusIsBlank: true,
});

/**
 * Reads `sqlserver://user:password@host:port/instance?database=…`, an ADO string (`server=host,port;user id=…;password=…`) or an ODBC one
 * (`odbc:server=…;password={…}`). Placeholders are replaced after the string was taken apart, so that no character of a user name or password
 * can mean anything; `disable_escaping` puts values in before, for operators who have encoded or quoted them. Throws ConfigurationInvalid without
 * the string.
 */
export function parseConnectionString(template: string, values: MssqlLogin): MssqlTarget {
  const isFilledFirst = values.disable_escaping === true;
  const text = reader.given(isFilledFirst ? fillPlaceholders(template, values) : template);
  const keys = /^(?:sqlserver|mssql):\/\//i.test(text) ? urlKeys(text) : pairKeys(text);
  const found = new Map(keys.map(([key, value]) => [key, isFilledFirst ? value : fillPlaceholders(value, values)]));
  const port = (text: string | undefined): number | undefined => (text === undefined ? undefined : reader.port(text));
  const [server = '.', instance] = [takeKey(found, 'server'), takeKey(found, 'instance')];
  const host = /^(?:\.|\(local\))$/i.test(server) ? 'localhost' : server;
  const first = { host, port: port(takeKey(found, 'port')), instance };
  const partner = takeKey(found, 'failoverpartner');
  const partnerPort = port(takeKey(found, 'failoverport')) ?? first.port;
  return {
    addresses: partner === undefined ? [first] : [first, { ...first, host: partner, port: partnerPort }],
    user: takeKey(found, 'user id') ?? values.username,
    password: takeKey(found, 'password') ?? values.password,
    database: takeKey(found, 'database'),
    parameters: found,
  };
}

type Keys = (readonly [key: string, value: string])[];

function urlKeys(url: string): Keys {
  const { user, password, authority, path, parameters } = reader.url(url);
  const { host, port } = reader.place(authority);
  const stated = Object.entries({ server: host, port, instance: path, 'user id': user, password: password ?? '' });
  return [...[...parameters].map(([key, value]) => [keyOf(key), value] as const), ...stated.filter(([, value]) => value !== '')];
}

/** A value is a placeholder, text in quotes or braces, in which the closing one is doubled, or all up to the semicolon. */
const PAIR = /\s*([^=;]+?)\s*=\s*(?:\{?(\{\{\w+\}\})\}?|"((?:""|[^"])*)"|'((?:''|[^'])*)'|\{((?:\}\}|[^}])*)\}|([^;]*?))\s*(?:;|$)/y;

function pairKeys(text: string): Keys {
  const pairs = reader.pairs(text.replace(/^odbc:/i, '').replace(/[;\s]+$/, ''), PAIR, (placeholder, double, single, braced, bare) => {
    return placeholder ?? double?.replaceAll('""', '"') ?? single?.replaceAll("''", "'") ?? braced?.replaceAll('}}', '}') ?? bare ?? '';
  });
  const keys: Keys = [...pairs].map(([key, value]) => [keyOf(key), value]);
  const place = /^(?:tcp:)?([^\\,]*)(?:\\([^,]*))?(?:,\s*(\d+))?$/i.exec(new Map(keys).get('server') ?? '');
  if (!place) throw reader.malformed();
  const [, host = '', instance = '', port = ''] = place;
  const stated = Object.entries({ instance, port }).filter(([, value]) => value !== '');
  return [...keys, ['server', host.trim()], ...stated];
}

function keyOf(text: string): string {
  const key = text.trim().toLowerCase();
  return SYNONYMS.get(key) ?? key;
}
