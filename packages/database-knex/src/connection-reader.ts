import { ConfigurationInvalid, type ConnectionUrlValues, renderConnectionUrl } from '@strongroom/database-sdk';

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

export interface ConnectionReaderOptions {
  /** What connection strings look like, for messages. */
  readonly examples: readonly string[];
  readonly defaultPort: number;
  /** Whether `+` in the query of a URL is a blank. */
  readonly plusIsBlank: boolean;
}

/** Takes connection strings of one database apart. Throws ConfigurationInvalid, which does not repeat them: they may hold a password. */
export class ConnectionReader {
  readonly #options: ConnectionReaderOptions;

  constructor(options: ConnectionReaderOptions) {
    this.#options = options;
  }

  malformed(): ConfigurationInvalid {
    return new ConfigurationInvalid(`unable to parse connection url: it must be like ${this.#options.examples.join(' or ')}`);
  }

  /** The connection string without blanks around it. */
  given(text: string): string {
    const trimmed = text.trim();
    if (trimmed === '') throw new ConfigurationInvalid('connection_url cannot be empty');
    return trimmed;
  }

  /** `scheme://user:password@host:port/path?key=value` */
  url(url: string): ConnectionUrl {
    const match = /^[a-z]+:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(url);
    if (!match) throw this.malformed();
    const [, place = '', path = '', query = ''] = match;
    const at = place.lastIndexOf('@');
    const [user, ...password] = place.slice(0, Math.max(at, 0)).split(':');
    return {
      user: this.decode(user ?? ''),
      password: password.length > 0 ? this.decode(password.join(':')) : undefined,
      authority: place.slice(at + 1),
      path: this.decode(path),
      parameters: this.query(query),
    };
  }

  /** The parameters behind the `?`. */
  query(query: string): Map<string, string> {
    const decode = (text: string): string => this.decode(this.#options.plusIsBlank ? text.replaceAll('+', ' ') : text);
    const pairs = query.split('&').filter(Boolean);
    return new Map(
      pairs.map((pair) => {
        const equals = pair.indexOf('=');
        if (equals < 1) throw this.malformed();
        return [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
      }),
    );
  }

  /** Keys with values, one after the other. `pair` is sticky and captures the key, and the value in whatever way it was quoted. */
  pairs(text: string, pair: RegExp, read: (...captured: readonly (string | undefined)[]) => string): Map<string, string> {
    const found = new Map<string, string>();
    pair.lastIndex = 0;
    while (pair.lastIndex < text.length) {
      const match = pair.exec(text);
      if (!match) throw this.malformed();
      const [, key = '', ...captured] = match;
      found.set(key, read(...captured));
    }
    return found;
  }

  decode(text: string): string {
    try {
      return decodeURIComponent(text);
    } catch {
      throw this.malformed();
    }
  }

  /** `host:port`, `[::1]:port`, each with or without a port. What is missing is ''. */
  place(entry: string): { host: string; port: string } {
    const match = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d*))?$/.exec(entry);
    if (!match) throw this.malformed();
    return { host: match[1] ?? match[2] ?? '', port: match[3] ?? '' };
  }

  port(text: string): number {
    const port = text === '' ? this.#options.defaultPort : Number(text);
    if (/^\d*$/.test(text) && port >= 1 && port <= 65_535) return port;
    throw new ConfigurationInvalid('connection_url holds a port that is not between 1 and 65535');
  }
}

/** Takes keys out, all names of one: the value of the first that is there, undefined where it is empty. */
export function takeKey(found: Map<string, string>, ...names: readonly string[]): string | undefined {
  const [value] = names.flatMap((name) => found.get(name) ?? []);
  for (const name of names) found.delete(name);
  return value === '' ? undefined : value;
}

/** `{{username}}`, `{{name}}` and `{{password}}` replaced by the values as they are. */
export function fillPlaceholders(text: string, values: ConnectionUrlValues): string {
  return renderConnectionUrl(text, values, { form: 'plain' });
}
