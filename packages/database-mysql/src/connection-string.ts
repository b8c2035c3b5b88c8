import { ConnectionReader, type ConnectionTarget, type ConnectionUrl, fillPlaceholders } from '@strongroom/database-knex';
import { ConfigurationInvalid } from '@strongroom/database-sdk';
import type { MysqlConnection } from './connection-schema.ts';

/** Where a server listens. */
export type MysqlAddress = { readonly host: string; readonly port: number } | { readonly socketPath: string };
export type MysqlTarget = ConnectionTarget<MysqlAddress>;

type MysqlLogin = Pick<MysqlConnection, 'username' | 'password' | 'disable_escaping'>;

const DEFAULT_SOCKET = '/tmp/mysql.sock';

const reader = new ConnectionReader({
  examples: ['{{username}}:{{password}}@tcp(host:3306)/', 'mysql://{{username}}:{{password}}@host:3306/'],
  defaultPort: 3306,
  plusIsBlank: true,
});

/**
 * Reads a DSN of Go's MySQL driver (`user:password@tcp(host:3306,other:3306)/database?param=value`) or a `mysql://` URL. Placeholders are
 * replaced after the string was taken apart, so that no character of a user name or password can mean anything; in a URL, `disable_escaping` puts
 * values in before, for operators who have percent-encoded them. A DSN knows no escaping. Throws ConfigurationInvalid without the string.
 */
export function parseConnectionString(template: string, values: MysqlLogin): MysqlTarget {
  const given = reader.given(template);
  const isUrl = /^(?:mysql|mariadb):\/\//i.test(given);
  const fillFirst = isUrl && values.disable_escaping === true;
  const fill = (piece: string): string => (fillFirst ? piece : fillPlaceholders(piece, values));
  const { user, password, authority, path, parameters, protocol } = isUrl
    ? { protocol: 'tcp', ...reader.url(fillFirst ? fillPlaceholders(given, values) : given) }
    : takeDsnApart(given);
  return {
    addresses: addressesOf(protocol, fill(authority)),
    user: fill(user) || values.username,
    password: password === undefined ? values.password : fill(password),
    database: fill(path) || undefined,
    parameters: new Map([...parameters].map(([name, value]) => [name, fill(value)])),
  };
}

/** As Go's driver does: the last slash begins the database, the last `@` before it the address, the first colon the password. */
function takeDsnApart(dsn: string): ConnectionUrl & { protocol: string } {
  const slash = dsn.lastIndexOf('/');
  const [left, rest] = [dsn.slice(0, Math.max(slash, 0)), dsn.slice(slash + 1)];
  const at = left.lastIndexOf('@');
  const place = /^([a-z0-9]*)(?:\(([^]*)\))?$/i.exec(left.slice(at + 1));
  if (slash < 0 || !place) throw reader.malformed();
  const [, user = '', password] = /^([^:]*)(?::([^]*))?$/.exec(left.slice(0, Math.max(at, 0))) ?? [];
  const [, path = '', query = ''] = /^([^?]*)\??([^]*)$/.exec(rest) ?? [];
  return {
    user,
    password,
    protocol: place[1]?.toLowerCase() || 'tcp',
    authority: place[2] ?? '',
    path: reader.decode(path),
    parameters: reader.query(query),
  };
}

function addressesOf(protocol: string, places: string): MysqlAddress[] {
  if (protocol === 'unix') return [{ socketPath: places || DEFAULT_SOCKET }];
  if (protocol !== 'tcp') throw new ConfigurationInvalid('connection_url must use tcp(host:port) or unix(path)');
  return places.split(',').map((entry) => {
    const { host, port } = reader.place(entry.trim());
    return { host: host || '127.0.0.1', port: reader.port(port) };
  });
}
