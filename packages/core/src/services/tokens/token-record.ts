/** The policies of a token when it made another, with those of its entity. */
export interface PolicyBound {
  policies: string[];
  /** Whose identity their templates are filled in with. */
  entity_id?: string;
}

/** A service token as stored below `token/<digest>`. Times are milliseconds since the epoch, spans are seconds. */
export interface TokenRecord {
  accessor: string;
  /** Digest of the parent; absent for orphans. */
  parent?: string;
  /** Request path that made it; also the prefix of its lease. */
  path: string;
  policies: string[];
  meta?: Record<string, string>;
  display_name: string;
  entity_id?: string;
  created: number;
  /** 0: never ends. */
  expires: number;
  /** Span given at creation; 0 for a root token. */
  creation_ttl: number;
  explicit_max_ttl?: number;
  /** Of the login method or role; counted from the creation. */
  max_ttl?: number;
  /** What its makers had, where it has fewer policies: it may do only what these allow as well. */
  within?: PolicyBound[];
  /** What its maker's limits left: no renewal takes the token beyond. Milliseconds since the epoch. */
  latest?: number;
  period?: number;
  renewable: boolean;
  /** 0 or absent is without limit. */
  num_uses?: number;
  role?: string;
  bound_cidrs?: string[];
  no_default_policy?: boolean;
  last_renewal?: number;
  /** The auth mount that issued it, and what its renewal gets back. */
  mount?: string;
  internal?: Record<string, unknown>;
  /** A wrapping token: how its answer was made. */
  wrap?: { creation_path: string; ttl: number };
  /** Where the expiry stands in the schedule, if it has one. */
  due?: number;
  attempts?: number;
  /** Revocation has begun: the token is dead, what hangs on it is being taken back. */
  revoking?: boolean;
}

export function isOrphan(record: TokenRecord): boolean {
  return record.parent === undefined;
}

/** Seconds left; 0 for a token without end. */
export function ttlLeft(record: Pick<TokenRecord, 'expires'>, now: number): number {
  return record.expires === 0 ? 0 : Math.max(0, Math.ceil((record.expires - now) / 1_000));
}
