import { resultName } from './result-codes.ts';

/**
 * Why a request failed: the server's result code (RFC 4511), or one of
 * - `NETWORK`: the connection could not be made, or died under a request;
 * - `TLS`: the handshake failed (a wrong CA, name or version);
 * - `TIMEOUT`: a deadline of ours passed;
 * - `ABORTED`: the caller's signal fired;
 * - `CLOSED`: the connection or the directory was closed before the request was sent;
 * - `EMPTY_PASSWORD`: a bind with an empty password, which servers take for an anonymous one, was refused before anything was sent;
 * - `INVALID`: the request cannot be expressed in LDAP; nothing was sent.
 */
export type LdapErrorCode = number | 'NETWORK' | 'TLS' | 'TIMEOUT' | 'ABORTED' | 'CLOSED' | 'EMPTY_PASSWORD' | 'INVALID';

export interface LdapErrorDetails {
  /** The server's own text, or ours for codes that are not the server's. Never holds a password. */
  diagnosticMessage?: string;
  matchedDn?: string;
  url?: string;
  outcomeUnknown?: boolean;
  connectedMillis?: number | undefined;
  referrals?: readonly string[];
}

const ownNames: Record<Exclude<LdapErrorCode, number>, readonly [number, string]> = {
  NETWORK: [200, 'Network Error'],
  TLS: [200, 'Network Error'],
  TIMEOUT: [200, 'Network Error'],
  ABORTED: [200, 'Network Error'],
  CLOSED: [200, 'Network Error'],
  EMPTY_PASSWORD: [206, 'Empty password not allowed by the client'],
  INVALID: [201, 'Filter Compile Error'],
};

/** A failed LDAP operation. `message` reads `LDAP Result Code 49 "Invalid Credentials": <diagnosticMessage>`. */
export class LdapError extends Error {
  override readonly name: string = 'LdapError';
  readonly code: LdapErrorCode;
  readonly diagnosticMessage: string;
  readonly matchedDn: string;
  /** The server that answered, or did not. */
  readonly url: string;
  /** True when the request was sent and no answer came: a change may or may not have happened. */
  readonly outcomeUnknown: boolean;
  /** Of a failed dial: milliseconds until the server took the connection; TLS failed then. Undefined when it never did. */
  readonly connectedMillis: number | undefined;
  /** Of code 10: the URLs that the server refers to; empty otherwise. */
  readonly referrals: readonly string[];

  constructor(code: LdapErrorCode, details: LdapErrorDetails = {}) {
    super(describe(code, details.diagnosticMessage ?? ''));
    this.code = code;
    this.diagnosticMessage = details.diagnosticMessage ?? '';
    this.matchedDn = details.matchedDn ?? '';
    this.url = details.url ?? '';
    this.outcomeUnknown = details.outcomeUnknown ?? false;
    this.connectedMillis = details.connectedMillis;
    this.referrals = details.referrals ?? [];
  }

  /** True when the server itself answered with this error; false when we never heard from it. */
  get answered(): boolean {
    return typeof this.code === 'number';
  }
}

function describe(code: LdapErrorCode, diagnostic: string): string {
  if (code === 'INVALID') return diagnostic;
  const [number, name] = typeof code === 'number' ? [code, resultName(code)] : ownNames[code];
  return `LDAP Result Code ${number} "${name}": ${diagnostic}`;
}

export interface DialAttempt {
  readonly url: string;
  readonly error: LdapError;
}

/** No server could be reached. `message` lists every attempt; `code` is that of the last one. */
export class LdapDialError extends LdapError {
  override readonly name = 'LdapDialError';
  readonly attempts: readonly DialAttempt[];

  constructor(attempts: readonly DialAttempt[]) {
    const last = attempts.at(-1);
    super(last?.error.code ?? 'NETWORK', {
      url: last?.url ?? '',
      diagnosticMessage: last?.error.diagnosticMessage ?? '',
      connectedMillis: last?.error.connectedMillis,
    });
    this.attempts = attempts;
    const lines = attempts.map(({ url, error }) =>
      error.code === 'INVALID' ? error.message : `error connecting to host ${JSON.stringify(url)}: ${error.message}`,
    );
    this.message = `${lines.length} error${lines.length === 1 ? '' : 's'} occurred:\n${lines.map((line) => `\t* ${line}\n`).join('')}\n`;
  }
}
