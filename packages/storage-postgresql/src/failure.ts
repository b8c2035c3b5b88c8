import { isIPv6 } from 'node:net';
import { DatabaseError } from 'pg';
import { StorageFailure } from '@strongroom/storage-sdk';
import { NAME_CHARACTERS, shown } from './shown.ts';

export const NAME = 'postgresql';

const PLAIN: Readonly<Record<string, string>> = {
  '28P01': 'PostgreSQL refuses the user name or password',
  '28000': 'PostgreSQL refuses the login',
  '42501': 'the PostgreSQL user lacks a privilege',
  '53100': "the PostgreSQL server's disk is full",
  '53300': 'PostgreSQL has no connection left to give',
  '57P01': 'PostgreSQL is shutting down',
  '57P02': 'PostgreSQL is restarting after a crash',
  '57P03': 'PostgreSQL is starting up',
  '25006': 'PostgreSQL takes no writes, and this needs one: it is a standby, or default_transaction_read_only is on',
};
/** Of these, the server's own message names the user, the database or the object. */
const DETAILED = new Set(['28P01', '28000', '42501', '53300']);

export function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** True when the server answered with an SQL error, false when it could not be reached or the connection was lost. (25P03: it was given up for standing still.) */
export function isAnswer(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !/^(08|57P|25P03)/.test(code) && code !== 'EPIPE';
}

/** Two transactions were in each other's way; the same again may succeed. */
export function isCollision(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}

/** Another transaction holds what this one needs, for longer than it may wait. Before COMMIT nothing has happened then. */
export function isLockWait(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

/** The statement took longer than it may. Before COMMIT nothing has happened then. */
export function isCancelled(error: unknown): boolean {
  return codeOf(error) === '57014';
}

/** This server takes no writes, or none any more: another one may. */
export function isElsewhere(error: unknown): boolean {
  return /^(25006|57P0[123])$/.test(codeOf(error) ?? '');
}

/** The table is not there: another driver may have put another store in the place of this one. */
export function isGone(error: unknown): boolean {
  return codeOf(error) === '42P01';
}

/** `pg` writes these without a code. */
const OF_PG: readonly (readonly [RegExp, string])[] = [
  [/^SASL: .*client password must be/, 'PostgreSQL asks for a password, and the connection URL has none'],
  [/does not support SSL connections/, 'PostgreSQL does not offer TLS, which sslmode of the connection URL asks for'],
  [/error establishing an SSL connection/, 'PostgreSQL cannot be reached: what answers is not PostgreSQL'],
  [/^timeout expired$/, 'PostgreSQL cannot be reached: it does not answer in time'],
  [
    /^Connection terminated unexpectedly$/,
    'PostgreSQL cannot be reached: what answers closes the connection; see the log of PostgreSQL, and whether host and port of the connection URL are its own',
  ],
  [/^Knex: Timeout acquiring a connection/, 'no connection to PostgreSQL became free in time'],
];
/** What OpenSSL and Node find wrong with a certificate. */
const CERTIFICATE = /CERT|UNABLE_TO_VERIFY|ERR_TLS/;

interface FailureOptions {
  /** Taken out of every text. */
  readonly secrets?: readonly string[];
  /** Whom the connection URL names. */
  readonly user?: string;
  /** Parts of the connection URL that PostgreSQL may quote here, and that may hold a password. */
  readonly unshown?: readonly string[];
}

/** What went wrong, naming PostgreSQL and neither the password nor the connection URL. */
export function asFailure(error: unknown, { secrets = [], user = '', unshown = [] }: FailureOptions = {}): StorageFailure {
  if (error instanceof StorageFailure) return error;
  const code = codeOf(error);
  const known = code === undefined ? undefined : PLAIN[code];
  if (error instanceof DatabaseError && unshown.length > 0 && (known === undefined || DETAILED.has(error.code ?? '')))
    return withoutMessage(error, unshown);
  let text = error instanceof Error ? error.message : String(error);
  const hidden = secrets.filter((secret) => secret !== '').sort((a, b) => b.length - a.length);
  if (hidden.length > 0) text = text.replaceAll(new RegExp(hidden.map(quoted).join('|'), 'g'), '[redacted]');
  const ofPg = code === undefined ? OF_PG.find(([words]) => words.test(text)) : undefined;
  if (ofPg) return new StorageFailure(NAME, ofPg[1]);
  if (code === '42501' && user !== '')
    return new StorageFailure(NAME, `the PostgreSQL user ${JSON.stringify(user)} lacks a privilege: ${text}`);
  if (code !== undefined && CERTIFICATE.test(code))
    return new StorageFailure(NAME, `the certificate of PostgreSQL is not accepted: ${text}`);
  if (code !== undefined && known !== undefined)
    return new StorageFailure(NAME, DETAILED.has(code) ? `${known}: ${text}` : known, { full: code === '53100' });
  if (isCancelled(error)) return new StorageFailure(NAME, `PostgreSQL took too long: ${text}`, { transient: true });
  if (isAnswer(error)) return new StorageFailure(NAME, `PostgreSQL: ${text}`);
  return new StorageFailure(NAME, `PostgreSQL cannot be reached: ${unreached(error, code, text)}`);
}

/** PostgreSQL cuts long names off and quotes them in any language: no part of its message is known to hold nothing of them. */
function withoutMessage({ code = '' }: DatabaseError, unshown: readonly string[]): StorageFailure {
  const known = code === '3D000' ? 'PostgreSQL does not have the database' : PLAIN[code];
  const where = `the ${unshown.join(' and the ')} of the connection URL`;
  return new StorageFailure(
    NAME,
    `${known ?? `PostgreSQL refuses the connection with the error ${code}`}; its message is not shown, because it may quote a password: ` +
      `there are characters other than ${NAME_CHARACTERS} in ${where}`,
  );
}

/** As a regular expression that matches the text and nothing else. */
function quoted(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** What Node says of a call of the system that failed. */
interface SystemError {
  /** Of a socket in a folder: its path, and there is no port. */
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

const REMEDIES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: start PostgreSQL, or correct the host or the port of the connection URL',
  ENOTFOUND: 'the name has no address: correct the host of the connection URL, or the DNS',
  EAI_AGAIN: 'the DNS does not answer',
  ENOENT: 'there is no such socket: start PostgreSQL, or correct the folder or the port in the connection URL',
};

/** A pooler that has no server says so in its own words; a failure of the network is its code and where it happened. */
function unreached(error: unknown, code: string | undefined, text: string): string {
  if (code === undefined || code.startsWith('08')) return text;
  if (code === 'EPROTO') return 'what answers does not speak TLS';
  const first = (error instanceof AggregateError ? error.errors[0] : error) as SystemError;
  const remedy = REMEDIES[code];
  const what = [code, placeOf(first)].filter((part) => part !== undefined).join(' ');
  return remedy === undefined ? what : `${what}; ${remedy}`;
}

function placeOf({ address, port, hostname }: SystemError): string | undefined {
  if (hostname !== undefined || address === undefined) return hostname;
  return port === undefined ? shown(address) : `${isIPv6(address) ? `[${address}]` : address}:${port}`;
}
