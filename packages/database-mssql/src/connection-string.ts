import { ConfigurationInvalid, type ConnectionUrlValues } from '@strongroom/database-sdk';

/** Where a server listens: on a port, or where the browser service says that an instance does. */
export interface MssqlAddress {
  readonly host: string;
  readonly port: number | undefined;
  readonly instance: string | undefined;
}

export interface ConnectionTarget {
  /** The server and, if there is one, its failover partner. */
  readonly addresses: readonly MssqlAddress[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** The other keys, in small letters, blanks kept: `app name`. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Other names of the same keys, those of ADO and ODBC. */
const SYNONYMS: Readonly<Record<string, string>> = {
  addr: 'server',
  address: 'server',
  'data source': 'server',
  'network address': 'server',
  'initial catalog': 'database',
  user: 'user id',
  uid: 'user id',
  username: 'user id',
  pwd: 'password',
  app: 'app name',
  'application name': 'app name',
  applicationname: 'app name',
  'workstation id': 'wsid',
  'trust server certificate': 'trustservercertificate',
  'host name in certificate': 'hostnameincertificate',
  'application intent': 'applicationintent',
  'connect timeout': 'connection timeout',
  timeout: 'connection timeout',
  'failover partner': 'failoverpartner',
  failover_partner: 'failoverpartner',
};

const unparsable = (): ConfigurationInvalid =>
  new ConfigurationInvalid(
    'unable to parse connection url: it must be like sqlserver://{{username}}:{{password}}@host:1433?database=name or ' +
      'server=host,1433;user id={{username}};password={{password}};database=name',
  );

/**
 * Reads `sqlserver://user:password@host:port/instance?database=…`, an ADO string (`server=host,port;user id=…;password=…`) or an ODBC one
 * (`odbc:server=…;password={…}`). Placeholders are replaced after the string was taken apart, so that no character of a user name or password
 * can mean anything; `disableEscaping` puts values in before, for operators who have encoded or quoted them. Throws ConfigurationInvalid without
 * the string.
 */
export function parseConnectionString(
  template: string,
  values: ConnectionUrlValues,
  { disableEscaping = false }: { disableEscaping?: boolean | undefined } = {},
): ConnectionTarget {
  const text = disableEscaping ? fill(template.trim(), values) : template.trim();
  if (text === '') throw new ConfigurationInvalid('connection_url cannot be empty');
  const found = /^(?:sqlserver|mssql):\/\//i.test(text) ? urlKeys(text) : pairKeys(text);
  if (!disableEscaping) for (const [key, value] of found) found.set(key, fill(value, values));
  return toTarget(found, values);
}

function fill(text: string, values: ConnectionUrlValues): string {
  return text.replace(
    /\{\{(username|name|password)\}\}/g,
    (_, key: string) => (key === 'password' ? values.password : values.username) ?? '',
  );
}

function urlKeys(url: string): Map<string, string> {
  const match = /^[a-z]+:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(url);
  if (!match) throw unparsable();
  const authority = match[1]!;
  const at = authority.lastIndexOf('@');
  const found = new Map<string, string>();
  for (const pair of (match[3] ?? '').split('&').filter(Boolean)) {
    const equals = pair.indexOf('=');
    if (equals < 1) throw unparsable();
    found.set(keyOf(decode(pair.slice(0, equals).replaceAll('+', ' '))), decode(pair.slice(equals + 1).replaceAll('+', ' ')));
  }
  const place = /^(\[[^\]]+\]|[^:]*)(?::(\d*))?$/.exec(authority.slice(at + 1));
  if (!place) throw unparsable();
  found.set('server', place[1]!.replace(/^\[|\]$/g, ''));
  if (place[2]) found.set('port', place[2]);
  if (match[2]) found.set('instance', decode(match[2]));
  if (at < 0) return found;
  const userPart = authority.slice(0, at);
  const colon = userPart.indexOf(':');
  found.set('user id', decode(colon < 0 ? userPart : userPart.slice(0, colon)));
  if (colon >= 0) found.set('password', decode(userPart.slice(colon + 1)));
  return found;
}

/** A value is a placeholder, text in quotes or braces, in which the closing one is doubled, or all up to the semicolon. */
const PAIR = /\s*([^=;]+?)\s*=\s*(?:\{?(\{\{\w+\}\})\}?|"((?:""|[^"])*)"|'((?:''|[^'])*)'|\{((?:\}\}|[^}])*)\}|([^;]*?))\s*(?:;|$)/y;

function pairKeys(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const pairs = text.replace(/^odbc:/i, '').replace(/[;\s]+$/, '');
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < pairs.length) {
    const match = PAIR.exec(pairs);
    if (!match) throw unparsable();
    const [, key, placeholder, double, single, braced, bare] = match;
    const value =
      placeholder ?? double?.replaceAll('""', '"') ?? single?.replaceAll("''", "'") ?? braced?.replaceAll('}}', '}') ?? bare ?? '';
    found.set(keyOf(key!), value);
  }
  const server = /^(?:tcp:)?([^\\,]*)(?:\\([^,]*))?(?:,\s*(\d+))?$/i.exec(found.get('server') ?? '');
  if (!server) throw unparsable();
  found.set('server', server[1]!.trim());
  if (server[2]) found.set('instance', server[2]);
  if (server[3]) found.set('port', server[3]);
  return found;
}

function keyOf(text: string): string {
  const key = text.trim().toLowerCase();
  return SYNONYMS[key] ?? key;
}

function toTarget(found: Map<string, string>, values: ConnectionUrlValues): ConnectionTarget {
  const take = (key: string): string | undefined => {
    const value = found.get(key);
    found.delete(key);
    return value === '' ? undefined : value;
  };
  const server = take('server');
  const local = server === undefined || server === '.' || server.toLowerCase() === '(local)';
  const first = { host: local ? 'localhost' : server, port: toPort(take('port')), instance: take('instance') };
  const partner = take('failoverpartner');
  const partnerPort = toPort(take('failoverport'));
  return {
    addresses: partner === undefined ? [first] : [first, { host: partner, port: partnerPort ?? first.port, instance: first.instance }],
    user: take('user id') ?? values.username,
    password: take('password') ?? values.password,
    database: take('database'),
    parameters: found,
  };
}

function toPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new ConfigurationInvalid('connection_url holds a port that is not between 1 and 65535');
  return port;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unparsable();
  }
}
