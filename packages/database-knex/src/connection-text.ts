import { ConfigurationInvalid, type ConnectionUrlValues } from '@strongroom/database-sdk';

/** Where a connection string leads. `Address`: one place where the database listens. */
export interface ConnectionTarget<Address> {
  /** Tried in order. */
  readonly addresses: readonly Address[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** What else it says, such as `sslmode`. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** The error for a text that cannot be read, which it must not repeat: it may hold a password. */
export function malformedConnectionUrl(...examples: readonly string[]): ConfigurationInvalid {
  return new ConfigurationInvalid(`unable to parse connection url: it must be like ${examples.join(' or ')}`);
}

/** The connection string without blanks around it. @throws ConfigurationInvalid where there is none */
export function requireConnectionUrl(text: string | undefined): string {
  const trimmed = text?.trim() ?? '';
  if (trimmed === '') throw new ConfigurationInvalid('connection_url cannot be empty');
  return trimmed;
}

/** Keys with values, one after the other. `pair` is sticky and captures the key, and the value in whatever way it was quoted. */
export function takePairsApart(
  text: string,
  pair: RegExp,
  malformed: () => ConfigurationInvalid,
  read: (...captured: readonly (string | undefined)[]) => string,
): Map<string, string> {
  const found = new Map<string, string>();
  pair.lastIndex = 0;
  while (pair.lastIndex < text.length) {
    const match = pair.exec(text);
    if (!match) throw malformed();
    const [, key = '', ...captured] = match;
    found.set(key, read(...captured));
  }
  return found;
}

/** Takes keys out, all names of one: the value of the first that is there, undefined where it is empty. */
export function takeKey(found: Map<string, string>, ...names: readonly string[]): string | undefined {
  const [value] = names.flatMap((name) => found.get(name) ?? []);
  for (const name of names) found.delete(name);
  return value === '' ? undefined : value;
}

/** A URL taken apart and percent-decoded. What it does not have is ''. */
export interface ConnectionUrl {
  readonly user: string;
  /** Undefined where no colon follows the user. */
  readonly password: string | undefined;
  /** Hosts and ports, as they stand. */
  readonly authority: string;
  readonly path: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Takes `scheme://user:password@host:port/path?key=value` apart. `malformed`: the error for a text of another form, which must not repeat it. */
export function takeUrlApart(url: string, malformed: () => ConfigurationInvalid, options: { plusIsBlank: boolean }): ConnectionUrl {
  const decode = (text: string): string => decodePercent(text, malformed);
  const match = /^[a-z]+:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(url);
  if (!match) throw malformed();
  const [, place = '', path = '', query = ''] = match;
  const at = place.lastIndexOf('@');
  const [user, ...password] = place.slice(0, Math.max(at, 0)).split(':');
  return {
    user: decode(user ?? ''),
    password: password.length > 0 ? decode(password.join(':')) : undefined,
    authority: place.slice(at + 1),
    path: decode(path),
    parameters: queryParameters(query, malformed, options),
  };
}

/** The parameters behind the `?` of a connection string, decoded. */
export function queryParameters(
  query: string,
  malformed: () => ConfigurationInvalid,
  { plusIsBlank }: { plusIsBlank: boolean },
): Map<string, string> {
  const decode = (text: string): string => decodePercent(plusIsBlank ? text.replaceAll('+', ' ') : text, malformed);
  const pairs = query.split('&').filter(Boolean);
  return new Map(
    pairs.map((pair) => {
      const equals = pair.indexOf('=');
      if (equals < 1) throw malformed();
      return [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    }),
  );
}

export function decodePercent(text: string, malformed: () => ConfigurationInvalid): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformed();
  }
}

/** `host:port`, `[::1]:port`, each with or without a port. What is missing is ''. */
export function hostAndPort(entry: string, malformed: () => ConfigurationInvalid): { host: string; port: string } {
  const match = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d*))?$/.exec(entry);
  if (!match) throw malformed();
  return { host: match[1] ?? match[2] ?? '', port: match[3] ?? '' };
}

/** @throws ConfigurationInvalid */
export function portNumber(text: string, byDefault: number): number {
  const port = text === '' ? byDefault : Number(text);
  if (/^\d*$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new ConfigurationInvalid('connection_url holds a port that is not between 1 and 65535');
}

/** `{{username}}`, `{{name}}` and `{{password}}` replaced by the values as they are. */
export function fillPlaceholders(text: string, { username = '', password = '' }: ConnectionUrlValues): string {
  return text.replace(/\{\{(username|name|password)\}\}/g, (_, key: string) => (key === 'password' ? password : username));
}
