import { ConfigurationInvalid } from '@strongroom/database-sdk';

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

const unparsable = (): ConfigurationInvalid =>
  new ConfigurationInvalid(
    'unable to parse connection url: it must be like postgresql://{{username}}:{{password}}@host:5432/name or ' +
      'host=… port=5432 user={{username}} password={{password}} dbname=name',
  );

/** Reads a `postgresql://` URL or a keyword string as libpq does, several hosts included. Throws ConfigurationInvalid without the string. */
export function parseConnectionString(text: string): ConnectionTarget {
  const trimmed = text.trim();
  if (trimmed === '') throw new ConfigurationInvalid('connection_url cannot be empty');
  return toTarget(/^postgres(?:ql)?:\/\//i.test(trimmed) ? parseUrl(trimmed) : parseKeywords(trimmed));
}

function parseUrl(url: string): Map<string, string> {
  const match = /^[a-z]+:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(url);
  if (!match) throw unparsable();
  const authority = match[1]!;
  const at = authority.lastIndexOf('@');
  const found = new Map<string, string>();
  const put = (key: string, encoded: string): void => {
    if (encoded !== '') found.set(key, decode(encoded));
  };
  const hosts: string[] = [];
  const ports: string[] = [];
  for (const entry of authority.slice(at + 1).split(',')) {
    const parts = /^(\[[^\]]+\]|[^:]*)(?::(\d*))?$/.exec(entry);
    if (!parts) throw unparsable();
    hosts.push(parts[1]!.replace(/^\[|\]$/g, ''));
    ports.push(parts[2] ?? '');
  }
  put('host', hosts.join(','));
  put('port', ports.join(','));
  if (at >= 0) {
    const userPart = authority.slice(0, at);
    const colon = userPart.indexOf(':');
    put('user', colon < 0 ? userPart : userPart.slice(0, colon));
    if (colon >= 0) put('password', userPart.slice(colon + 1));
  }
  put('dbname', match[2] ?? '');
  for (const pair of (match[3] ?? '').split('&').filter(Boolean)) {
    const equals = pair.indexOf('=');
    if (equals < 0) throw unparsable();
    put(decode(pair.slice(0, equals)), pair.slice(equals + 1));
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

function parseKeywords(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const pair = /\s*(\w+)\s*=\s*(?:'((?:\\[^]|[^'\\])*)'|((?:\\[^]|[^\s'\\])*))(?=\s|$)\s*/y;
  while (pair.lastIndex < text.length) {
    const match = pair.exec(text);
    if (!match) throw unparsable();
    found.set(match[1]!, (match[2] ?? match[3] ?? '').replace(/\\([^])/g, '$1'));
  }
  return found;
}

function toTarget(found: Map<string, string>): ConnectionTarget {
  const take = (...keys: string[]): string | undefined => {
    let value: string | undefined;
    for (const key of keys) {
      value ??= found.get(key);
      found.delete(key);
    }
    return value === '' ? undefined : value;
  };
  const address = take('hostaddr');
  const hosts = (take('host') ?? address ?? 'localhost').split(',');
  const ports = (take('port') ?? '').split(',');
  if (ports.length > 1 && ports.length !== hosts.length) throw new ConfigurationInvalid('connection_url names more ports than hosts');
  return {
    hosts: hosts.map((host, index) => ({ host: host || 'localhost', port: toPort(ports.length > 1 ? ports[index]! : ports[0]!) })),
    user: take('user', 'username'),
    password: take('password'),
    database: take('dbname', 'database'),
    parameters: found,
  };
}

function toPort(text: string): number {
  if (text === '') return 5432;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new ConfigurationInvalid('connection_url holds a port that is not between 1 and 65535');
  return port;
}
