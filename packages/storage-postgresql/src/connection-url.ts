import { StorageFailure } from '@strongroom/storage-sdk';
import { NAME } from './failure.ts';

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
  /** The same URL for one of the hosts, as `pg` reads it. `purpose` is added to the name that PostgreSQL shows for the connection. */
  readonly urlOf: (host: Host, purpose?: string) => string;
  /** '' where the URL names none. */
  readonly user: string;
  /** What must not be seen in any text. */
  readonly secrets: readonly string[];
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
/** `pg` checks the certificate and its name for each of these, and warns of a version of itself that will not. */
const VERIFIED = ['prefer', 'require', 'verify-ca'];
const SSL_MODES = ['disable', 'allow', 'no-verify', 'verify-full', ...VERIFIED];
/** Of a name in the DNS. The folder of a socket is shorter, too. */
const LONGEST_HOST = 253;

/** @throws StorageFailure, which names what is wrong and no secret */
export function readConnectionUrl(text: string): ConnectionUrl {
  if (text !== text.trim()) refuse('the connection URL begins or ends with white space');
  if (!/^postgres(ql)?:\/\//.test(text)) {
    throw new StorageFailure(NAME, /^[a-z][a-z0-9+.-]*:/i.test(text) ? 'the connection URL does not begin with postgresql://' : NO_URL);
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
  const passed = new URLSearchParams();
  for (const name of OF_PG) for (const value of parameters.getAll(name)) passed.set(name, value);
  if (VERIFIED.includes(passed.get('sslmode') ?? '') && passed.get('uselibpqcompat') !== 'true') passed.set('sslmode', 'verify-full');
  const name = parameters.get('user') ?? decoded(user);
  passed.set('user', name);
  passed.set('password', secret);
  const application = parameters.get('application_name') ?? parameters.get('fallback_application_name') ?? 'strongroom';
  return {
    hosts,
    readWrite: readsAndWrites(parameters.get('target_session_attrs'), hosts.length),
    balanced: oneOf(parameters, 'load_balance_hosts', ['disable', 'random'], 'disable') === 'random',
    connectMs: connectMs(parameters.get('connect_timeout')),
    urlOf({ host, port }, purpose) {
      const all = new URLSearchParams(passed);
      all.set('application_name', purpose === undefined ? application : `${application} ${purpose}`);
      all.set('host', host);
      all.set('port', String(port));
      return `postgresql:///${encodeURIComponent(database)}?${all}`;
    },
    user: name,
    secrets: [text, password, secret, encodeURIComponent(secret)],
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
  const encoding = parameters.get('client_encoding');
  if (encoding !== null && !/^utf-?8$/i.test(encoding)) refuse('the parameter client_encoding of the connection URL must be UTF8');
}

function unknown(name: string): string {
  if (LIMITS.includes(name)) return `the connection URL sets ${name}, which the driver sets itself: leave it out`;
  const nearest = nearestOf(name, KNOWN);
  // What is like no known name may be part of a password with a bare `&`, and must not be shown.
  if (nearest === undefined) return `the connection URL has an unknown parameter; the known ones are ${KNOWN.join(', ')}`;
  return `the connection URL has the unknown parameter ${JSON.stringify(name)}. Did you mean ${nearest}?`;
}

/** libpq lets one port stand for all hosts. */
function hostsOf(authority: string, parameters: URLSearchParams): Host[] {
  const places = authority === '' ? [] : authority.split(',').map(placeOf);
  const names = parameters.get('host')?.split(',') ?? places.map(({ host }) => host);
  const given = parameters.get('port')?.split(',');
  const ports = given ?? (names.length === places.length ? places.map(({ port }) => port) : []);
  if (given && given.length > 1 && given.length !== names.length)
    refuse(`the connection URL names ${names.length} hosts and ${given.length} ports`);
  if (names.some((name) => name.length > LONGEST_HOST)) refuse(`the connection URL has a host of more than ${LONGEST_HOST} characters`);
  return (names.length === 0 ? ['localhost'] : names).map((host, i) => ({
    host: host === '' ? 'localhost' : host,
    port: portOf(ports.length === 1 ? ports[0] : ports[i]),
  }));
}

function placeOf(text: string): { host: string; port: string } {
  const [, bracketed, plain, port = ''] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::([^:]*))?$/.exec(text) ?? refuse('the connection URL has a host that is not host:port');
  return { host: bracketed ?? decoded(plain ?? ''), port };
}

function portOf(text: string | undefined): number {
  if (text === undefined || text === '') return PORT;
  const port = Number(text);
  return Number.isInteger(port) && port > 0 && port < 65_536
    ? port
    : refuse('the connection URL has a port that is not a number from 1 to 65535');
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
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 600)
    refuse('the parameter connect_timeout of the connection URL must be a number of seconds from 1 to 600');
  return seconds * 1_000;
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
