import type { LdapEntry } from './entry.ts';
import type { Filter } from './filter.ts';
import type { LdifRecord } from './ldif.ts';

export interface RequestOptions {
  /** Firing it closes the connection: a half-done exchange cannot be trusted. */
  signal?: AbortSignal | undefined;
  /** Seconds; the settings' request timeout when absent. Passing it closes the connection. */
  timeoutSeconds?: number | undefined;
  /** `server` of an `LdapEntry`: the request is for the server where that one was found. Heard by service connections that follow referrals. */
  server?: string | undefined;
}

export interface BindOptions extends RequestOptions {
  /** Lets an empty password through: an anonymous bind, or RFC 4513's unauthenticated one when a name is given. */
  allowUnauthenticated?: boolean | undefined;
}

export interface SearchRequest extends RequestOptions {
  base: string;
  /** `sub` when absent. */
  scope?: 'base' | 'one' | 'sub' | undefined;
  /** An RFC 4515 text, or what `parseFilter` made of one; `(objectClass=*)` when absent. */
  filter?: Filter | string | undefined;
  /** All user attributes when absent; `['1.1']` for none. */
  attributes?: readonly string[] | undefined;
  /** Entries at most; more make the server answer with code 4. 0, the default, is no limit. */
  sizeLimit?: number | undefined;
  derefAliases?: 'never' | 'searching' | 'finding' | 'always' | undefined;
  /** Above 0, the result is fetched in pages of this size (RFC 2696); the deadline then counts for each page. */
  pageSize?: number | undefined;
  /** Told the URLs of each continuation reference: equally good places of one part of the tree. Service connections that follow referrals tell nothing. */
  onReference?: ((urls: readonly string[]) => void) | undefined;
}

export interface AttributeValues {
  readonly attribute: string;
  /** Text is sent as UTF-8. */
  readonly values: readonly (string | Buffer)[];
}

export interface Modification extends AttributeValues {
  readonly operation: 'add' | 'delete' | 'replace';
}

export interface Rename {
  newRdn: string;
  /** Whether the old relative name's values leave the entry; true when absent. */
  deleteOldRdn?: boolean | undefined;
  newSuperior?: string | undefined;
}

/** How a connection came about. */
export interface Established {
  /** Until the server took the connection. */
  readonly dialMillis: number;
  /** From then until it was encrypted; `protocol` is such as `TLSv1.3`. Absent without TLS. */
  readonly tls?: { readonly millis: number; readonly protocol: string };
}

/**
 * One connection to one server. Every method rejects with `LdapError`: with the server's code when it answered, and then the connection
 * lives on; with a word (`NETWORK`, `TIMEOUT`, …) when it did not, and then the connection is closed.
 */
export interface Connection {
  readonly url: string;
  readonly established: Established;
  /** False once closed by either side. */
  readonly alive: boolean;
  /** The name of the last successful bind; empty while anonymous, undefined while a bind is under way. */
  readonly boundAs: string | undefined;
  /** Refuses empty passwords (`EMPTY_PASSWORD`) unless allowed. After a refused bind the connection is anonymous. */
  bind(name: string, password: string, options?: BindOptions): Promise<void>;
  /** Attributes that Active Directory shows in pieces (`member;range=0-1499`) come whole, unless a range was asked for. */
  search(request: SearchRequest): Promise<LdapEntry[]>;
  add(dn: string, attributes: readonly AttributeValues[], options?: RequestOptions): Promise<void>;
  modify(dn: string, changes: readonly Modification[], options?: RequestOptions): Promise<void>;
  modifyDn(dn: string, rename: Rename, options?: RequestOptions): Promise<void>;
  delete(dn: string, options?: RequestOptions): Promise<void>;
  /** The authorization identity (RFC 4532), such as `dn:uid=a,…`; empty for anonymous. Active Directory has no such operation. */
  whoAmI(options?: RequestOptions): Promise<string>;
  /** Closes at once; requests under way reject with `CLOSED`. Closing twice is fine. */
  close(): void;
}

/** Carries out one LDIF record. */
export async function applyLdif(connection: Connection, record: LdifRecord, options: RequestOptions = {}): Promise<void> {
  switch (record.type) {
    case 'add':
      return connection.add(record.dn, record.attributes, options);
    case 'modify':
      return connection.modify(record.dn, record.changes, options);
    case 'modrdn':
      return connection.modifyDn(record.dn, record, options);
    case 'delete':
      return connection.delete(record.dn, options);
  }
}
