import { isIP, isIPv6 } from 'node:net';
import type { ClientConfig } from 'pg';
import { StorageFailure } from '@strongroom/storage-sdk';
import { NAME } from './failure.ts';
import { isName } from './shown.ts';
import { tlsOf } from './tls.ts';

export interface Host {
  readonly host: string;
  readonly port: number;
}

/** What a connection URL says, checked. */
export interface ConnectionUrl {
  /** At least one, in the order of the URL. */
  readonly hosts: readonly Host[];
  /** Only a server that can be written to is used; another is passed over. */
  readonly readWrite: boolean;
  /** Hosts are tried in random order. */
  readonly balanced: boolean;
  /** Milliseconds for one host; undefined where the URL does not say. */
  readonly connectMs: number | undefined;
  /**
   * What `pg` connects to one of the hosts with. `purpose` is added to the name that PostgreSQL shows for the connection. (`pg` would not decode all of a
   * database in a URL.)
   * @throws StorageFailure for a file that cannot be read
   */
  readonly configFor: (host: Host, purpose?: string) => ClientConfig;
  /** '' where the URL names none. */
  readonly user: string;
  /** What must not be seen in any text. */
  readonly secrets: readonly string[];
  /** The parts that PostgreSQL may quote when it refuses a login, and that may hold a password. */
  readonly unshown: readonly string[];
}

/** Read here. */
const OURS = [
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'application_name',
  'fallback_application_name',
  'connect_timeout',
  'target_session_attrs',
  'load_balance_hosts',
] as const;
/** Passed on to `pg`. */
const OF_PG = [
  'client_encoding',
  'options',
  'ssl',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'uselibpqcompat',
] as const;
const KNOWN: readonly string[] = [...OURS, ...OF_PG];
/** Of these, the value may have a bare `@`. In another it is what is left of a password. */
const FREE: readonly string[] = [
  'user',
  'password',
  'dbname',
  'application_name',
  'fallback_application_name',
  'options',
  'sslrootcert',
  'sslcert',
  'sslkey',
];
/** The driver sets these itself, and reads them back. */
const LIMITS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'query_timeout'];
const PORT = 5432;
const URL_FORM = /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;

const NO_URL =
  'the connection URL is not a URL: write postgresql://user:password@host:port/database, with / ? # and @ in a password percent-encoded';
const SSL_MODES = ['disable', 'allow', 'no-verify', 'verify-full', 'prefer', 'require', 'verify-ca'];
/** Of a name in the DNS. The folder of a socket is shorter, too. */
const LONGEST_HOST = 253;

/** @throws StorageFailure, which names what is wrong and no secret */
export function readConnectionUrl(text: unknown): ConnectionUrl {
  if (typeof text !== 'string') return refuse('connectionUrl must be a string, such as postgresql://user:password@host:port/database');
  if (text.includes('%00') || text.includes('\0'))
    refuse('the connection URL contains a null character ("%00"), which PostgreSQL does not accept: remove it');
  if (text !== text.trim()) refuse('the connection URL begins or ends with white space');
  if (!/^postgres(ql)?:\/\//.test(text)) {
    throw new StorageFailure(
      NAME,
      /^[a-z][a-z0-9+.-]*:/i.test(text)
        ? 'the connection URL must begin with postgresql:// or postgres://, such as postgresql://user:password@host:port/database'
        : NO_URL,
    );
  }
  const [, authority = '', path = '', query = ''] = URL_FORM.exec(text) ?? refuse(NO_URL);
  // What is left of a password with a bare `/` looks like a database. It must not be shown.
  if (path.includes('@')) refuse(NO_URL);
  const parameters = new URLSearchParams(query);
  checkParameters(parameters, query.includes('@'));
  const at = authority.lastIndexOf('@');
  const [user = '', password = ''] = at < 0 ? [] : split(authority.slice(0, at), ':');
  const secret = parameters.get('password') ?? decoded(password);
  const hosts = hostsOf(authority.slice(at + 1), parameters);
  const database = parameters.get('dbname') ?? decoded(path);
  const name = parameters.get('user') ?? decoded(user);
  const application = parameters.get('application_name') ?? parameters.get('fallback_application_name') ?? 'strongroom';
  const options = parameters.get('options') ?? undefined;
  const quotable = { user: name, database, options: options ?? '', application_name: application };
  return {
    hosts,
    readWrite: readsAndWrites(parameters.get('target_session_attrs'), hosts.length),
    balanced: oneOf(parameters, 'load_balance_hosts', ['disable', 'random'], 'disable') === 'random',
    connectMs: connectMs(parameters.get('connect_timeout')),
    configFor({ host, port }, purpose) {
      return {
        host,
        port,
        user: name,
        password: secret,
        database,
        options,
        application_name: purpose === undefined ? application : `${application} ${purpose}`,
        client_encoding: parameters.get('client_encoding') ?? undefined,
        ssl: tlsOf(parameters),
        sslnegotiation: (parameters.get('sslnegotiation') ?? undefined) as ClientConfig['sslnegotiation'],
      };
    },
    user: name,
    secrets: [text, password, secret, encodeURIComponent(secret)],
    unshown: Object.entries(quotable).flatMap(([part, value]) => (isName(value) ? [] : [part])),
  };
}

/** `at`: whether the query has a bare `@`. A name or a value may then be what is left of a password with a bare `?`, which must not be shown. */
function checkParameters(parameters: URLSearchParams, at: boolean): void {
  for (const name of new Set(parameters.keys())) {
    if (!KNOWN.includes(name)) refuse(at ? NO_URL : unknown(name));
    if (at && parameters.get(name)?.includes('@') && !FREE.includes(name)) refuse(NO_URL);
    if (parameters.getAll(name).length > 1) refuse(`the connection URL sets ${name} more than once`);
  }
  oneOf(parameters, 'sslmode', SSL_MODES, 'prefer');
  oneOf(parameters, 'sslnegotiation', ['postgres', 'direct'], 'postgres');
  oneOf(parameters, 'ssl', ['true', 'false', '1', '0', 'no-verify'], 'false');
  const compatible = oneOf(parameters, 'uselibpqcompat', ['true', 'false'], 'false') === 'true';
  if (compatible && parameters.get('sslmode') === 'verify-ca' && !parameters.get('sslrootcert'))
    refuse(
      'the connection URL sets sslmode=verify-ca and uselibpqcompat=true: add sslrootcert, which names the file of the certificate authority',
    );
  const encoding = parameters.get('client_encoding');
  if (encoding !== null && !/^utf-?8$/i.test(encoding)) refuse('the parameter client_encoding of the connection URL must be UTF8');
}

function unknown(name: string): string {
  if (LIMITS.includes(name)) return `the connection URL sets ${name}, which the driver sets itself: leave it out`;
  const nearest = nearestOf(name, KNOWN);
  // The name may be part of a password with a bare `&`, and must not be shown.
  if (nearest === undefined) return `the connection URL has an unknown parameter; the known ones are ${KNOWN.join(', ')}`;
  return `the connection URL has an unknown parameter. Did you mean ${nearest}?`;
}

/** As libpq reads them: the parameters replace the hosts or the ports of the authority, and one port stands for all hosts. */
function hostsOf(authority: string, parameters: URLSearchParams): Host[] {
  const places = authority === '' ? [] : authority.split(',').map(placeOf);
  const given = parameters.get('host')?.split(',') ?? places.map(({ host }) => host);
  const hosts = given.length === 0 ? ['localhost'] : given;
  const ports = parameters.get('port')?.split(',') ?? places.map(({ port }) => port);
  const numbers = ports.map(portOf);
  if (ports.length > 1 && ports.length !== hosts.length && ports.some((port) => port !== '')) {
    const count = `${hosts.length} ${hosts.length === 1 ? 'host' : 'hosts'}`;
    refuse(`the connection URL names ${count} and ${ports.length} ports: name one port for all hosts, or one for each host`);
  }
  for (const host of hosts) requireHost(host);
  return hosts.map((host, i) => ({
    host: host === '' ? 'localhost' : host,
    port: (numbers.length === 1 ? numbers[0] : numbers[i]) ?? PORT,
  }));
}

function placeOf(text: string): { host: string; port: string } {
  const [, bracketed, plain, port = ''] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::([^:]*))?$/.exec(text) ?? refuse('the connection URL has a host that is not host:port');
  if (bracketed !== undefined && !isIPv6(bracketed)) refuse('the connection URL has brackets around what is not an IPv6 address');
  return { host: bracketed ?? decoded(plain ?? ''), port };
}

/** What is left of a password may look like a host. It must not be looked up, or shown. */
function requireHost(host: string): void {
  if (host.length > LONGEST_HOST) refuse(`the connection URL has a host of more than ${LONGEST_HOST} characters`);
  if (!isName(host) && isIP(host) === 0 && !host.startsWith('/'))
    refuse('the connection URL has a host that is not a name, an IP address or the absolute path of a folder with a socket');
}

/** Undefined for ''. */
function portOf(text: string): number | undefined {
  if (text === '') return undefined;
  return wholeNumber(text, 65_535) ?? refuse('the connection URL has a port that is not a number from 1 to 65535');
}

/** From 1 to `most`, in decimal digits. */
function wholeNumber(text: string, most: number): number | undefined {
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= most ? number : undefined;
}

/** Where several servers are named, some may be standbys, which take no writes. */
function readsAndWrites(given: string | null, hosts: number): boolean {
  switch (given) {
    case null:
      return hosts > 1;
    case 'read-write':
    case 'primary':
      return true;
    case 'any':
      return false;
    default:
      return refuse(
        'the parameter target_session_attrs of the connection URL must be "read-write", "primary" or "any": the store is written to',
      );
  }
}

function oneOf(parameters: URLSearchParams, name: string, allowed: readonly string[], otherwise: string): string {
  const value = parameters.get(name) ?? otherwise;
  if (allowed.includes(value)) return value;
  const quoted = allowed.map((each) => JSON.stringify(each));
  return refuse(`the parameter ${name} of the connection URL must be ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`);
}

function connectMs(text: string | null): number | undefined {
  if (text === null) return undefined;
  const seconds = wholeNumber(text, 600);
  return (seconds ?? refuse('the parameter connect_timeout of the connection URL must be a number of seconds from 1 to 600')) * 1_000;
}

function split(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse('the connection URL is not encoded as URLs are: write "%" as "%25"');
  }
}

/** The known name that fewest changes of a letter lead to, if they are few. */
function nearestOf(name: string, known: readonly string[]): string | undefined {
  const ranked = known.map((each) => ({ each, steps: steps(name.toLowerCase(), each) })).sort((a, b) => a.steps - b.steps);
  const [best] = ranked;
  return best && best.steps <= Math.max(2, Math.floor(best.each.length / 3)) ? best.each : undefined;
}

/** The Levenshtein distance. */
function steps(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}

function refuse(reason: string): never {
  throw new StorageFailure(NAME, reason);
}
