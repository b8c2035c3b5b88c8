import { ConfigurationInvalid, type ConnectionUrlValues } from '@strongroom/database-sdk';

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
export function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new ConfigurationInvalid('connection_url holds a port that is not between 1 and 65535');
}

/** `{{username}}`, `{{name}}` and `{{password}}` replaced by the values as they are. */
export function fillPlaceholders(text: string, { username = '', password = '' }: ConnectionUrlValues): string {
  return text.replace(/\{\{(username|name|password)\}\}/g, (_, key: string) => (key === 'password' ? password : username));
}
