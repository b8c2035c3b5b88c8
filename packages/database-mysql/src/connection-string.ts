import { ConfigurationInvalid, type ConnectionUrlValues } from '@strongroom/database-sdk';

/** Where a server listens. */
export type MysqlAddress = { readonly host: string; readonly port: number } | { readonly socketPath: string };

export interface ConnectionTarget {
  /** Tried in order. */
  readonly addresses: readonly MysqlAddress[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** What stands behind the `?`, decoded. */
  readonly parameters: ReadonlyMap<string, string>;
}

interface Pieces {
  readonly user: string;
  readonly password: string | undefined;
  readonly protocol: string;
  readonly address: string;
  readonly database: string;
  readonly query: string;
}

const DEFAULT_PORT = 3306;
const DEFAULT_SOCKET = '/tmp/mysql.sock';

const unparsable = (): ConfigurationInvalid =>
  new ConfigurationInvalid(
    'unable to parse connection url: it must be like {{username}}:{{password}}@tcp(host:3306)/ or mysql://{{username}}:{{password}}@host:3306/',
  );

/**
 * Reads a DSN of Go's MySQL driver (`user:password@tcp(host:3306,other:3306)/database?param=value`) or a `mysql://` URL. Placeholders are
 * replaced after the string was taken apart, so that no character of a user name or password can mean anything; in a URL, `disableEscaping` puts
 * values in before, for operators who have percent-encoded them. A DSN knows no escaping. Throws ConfigurationInvalid without the string.
 */
export function parseConnectionString(
  template: string,
  values: ConnectionUrlValues,
  options: { disableEscaping?: boolean | undefined } = {},
): ConnectionTarget {
  const given = template.trim();
  if (given === '') throw new ConfigurationInvalid('connection_url cannot be empty');
  const put = (piece: string): string =>
    piece.replace(/\{\{(username|name|password)\}\}/g, (_, key: string) => (key === 'password' ? values.password : values.username) ?? '');
  const isUrl = /^(?:mysql|mariadb):\/\//i.test(given);
  const first = isUrl && options.disableEscaping === true;
  const text = first ? put(given) : given;
  const fill = first ? (piece: string): string => piece : put;
  const { user, password, protocol, address, database, query } = isUrl ? urlPieces(text) : dsnPieces(text);
  const decodeIfUrl = isUrl ? decode : (piece: string): string => piece;
  return {
    addresses: addressesOf(protocol, fill(address)),
    user: fill(decodeIfUrl(user)) || values.username,
    password: password === undefined ? values.password : fill(decodeIfUrl(password)),
    database: fill(decode(database)) || undefined,
    parameters: parametersOf(query, fill),
  };
}

/** As Go's driver does: the last slash begins the database, the last `@` before it the address, the first colon the password. */
function dsnPieces(dsn: string): Pieces {
  const slash = dsn.lastIndexOf('/');
  if (slash < 0) throw unparsable();
  const left = dsn.slice(0, slash);
  const at = left.lastIndexOf('@');
  const target = /^([a-z0-9]*)(?:\(([^]*)\))?$/i.exec(left.slice(at + 1));
  if (!target) throw unparsable();
  return {
    ...userPieces(left.slice(0, Math.max(at, 0))),
    protocol: target[1]!.toLowerCase() || 'tcp',
    address: target[2] ?? '',
    ...restPieces(dsn.slice(slash + 1)),
  };
}

function urlPieces(url: string): Pieces {
  const match = /^[a-z]+:\/\/([^/?#]*)(?:\/([^#]*)|(\?[^#]*))?$/i.exec(url);
  if (!match) throw unparsable();
  const authority = match[1]!;
  const at = authority.lastIndexOf('@');
  return {
    ...userPieces(authority.slice(0, Math.max(at, 0))),
    protocol: 'tcp',
    address: authority.slice(at + 1),
    ...restPieces(match[2] ?? match[3] ?? ''),
  };
}

function userPieces(text: string): Pick<Pieces, 'user' | 'password'> {
  const colon = text.indexOf(':');
  return colon < 0 ? { user: text, password: undefined } : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

function restPieces(text: string): Pick<Pieces, 'database' | 'query'> {
  const mark = text.indexOf('?');
  return mark < 0 ? { database: text, query: '' } : { database: text.slice(0, mark), query: text.slice(mark + 1) };
}

function addressesOf(protocol: string, address: string): MysqlAddress[] {
  if (protocol === 'unix') return [{ socketPath: address || DEFAULT_SOCKET }];
  if (protocol !== 'tcp') throw new ConfigurationInvalid('connection_url must use tcp(host:port) or unix(path)');
  return address.split(',').map((entry) => {
    const parts = /^\s*(?:\[([^\]]+)\]|([^:\s]*))(?::(\d*))?\s*$/.exec(entry);
    if (!parts) throw unparsable();
    return { host: parts[1] ?? (parts[2] || '127.0.0.1'), port: toPort(parts[3] ?? '') };
  });
}

function toPort(text: string): number {
  const port = text === '' ? DEFAULT_PORT : Number(text);
  if (port < 1 || port > 65_535) throw new ConfigurationInvalid('connection_url holds a port that is not between 1 and 65535');
  return port;
}

function parametersOf(query: string, fill: (text: string) => string): Map<string, string> {
  const found = new Map<string, string>();
  for (const pair of query.split('&').filter(Boolean)) {
    const equals = pair.indexOf('=');
    if (equals < 1) throw unparsable();
    found.set(decode(pair.slice(0, equals)), fill(decode(pair.slice(equals + 1).replaceAll('+', ' '))));
  }
  return found;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unparsable();
  }
}
