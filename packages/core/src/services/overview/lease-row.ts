import { leaseRecords, type LeaseRecord } from '../leases/lease-record.ts';
import type { TokenRecord } from '../tokens/token-record.ts';
import type { FoundToken } from '../tokens/token-store.ts';
import { CorruptRecord } from '../../kernel/barrier/key-ring.ts';
import type { Store } from '../../kernel/storage/store.ts';

/**
 * How the end of a lease stands. `live`: in force until it expires. `revoking`: its revocation is due or under way. `waiting`: a revocation failed or was
 * postponed, and is tried again. `irrevocable`: it failed often enough to be tried once a day only. `damaged`: its record cannot be read.
 */
export type LeaseState = 'live' | 'revoking' | 'waiting' | 'irrevocable' | 'damaged';

/** A lease as operators see it: everything but the credential. Times are milliseconds since the epoch. */
export interface LeaseRow {
  readonly id: string;
  readonly type: 'secret' | 'token';
  readonly state: LeaseState;
  readonly path: string;
  readonly issued: number;
  readonly expires: number;
  readonly lastRenewal?: number | undefined;
  readonly renewable: boolean;
  /** Of the token it was issued to; of a token's lease, its own. */
  readonly accessor?: string | undefined;
  /** When the server acts next: the end of a live lease, and the next try of a revocation. */
  readonly due: number;
  /** Failed revocations. */
  readonly attempts: number;
  /** Why the last one failed. */
  readonly error?: string | undefined;
}

export interface TokenReader {
  /** Also of a token that has ended. @throws CorruptRecord */
  byDigest(digest: string): Promise<Pick<FoundToken, 'record'> | undefined>;
}

/** Reads the rows of leases, the accessor of each token once. One serves one request. */
export class LeaseRows {
  readonly #store: Store;
  readonly #tokens: TokenReader;
  readonly #accessors = new Map<string, Promise<string | undefined>>();

  constructor(store: Store, tokens: TokenReader) {
    this.#store = store;
    this.#tokens = tokens;
  }

  /** Of a secret's lease; undefined where there is none. */
  async ofSecret(id: string): Promise<LeaseRow | undefined> {
    try {
      const record = await leaseRecords.get(this.#store, id);
      return record && { ...fromLease(id, record), accessor: await this.#accessorOf(record.token) };
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error;
      const none = { issued: 0, expires: 0, due: 0, attempts: 0, renewable: false };
      return { ...none, id, type: 'secret', state: 'damaged', path: id.slice(0, id.lastIndexOf('/')), error: error.message };
    }
  }

  /** Of a token's lease; undefined where there is no token of this digest, or it never ends. */
  async ofToken(digest: string): Promise<LeaseRow | undefined> {
    const record = await this.tokenRecord(digest);
    return record && fromToken(digest, record);
  }

  /** Undefined also for a damaged one. */
  async tokenRecord(digest: string): Promise<TokenRecord | undefined> {
    try {
      return (await this.#tokens.byDigest(digest))?.record;
    } catch (error) {
      if (error instanceof CorruptRecord) return undefined;
      throw error;
    }
  }

  #accessorOf(digest: string): Promise<string | undefined> {
    if (digest === '') return Promise.resolve(undefined);
    let found = this.#accessors.get(digest);
    if (!found) this.#accessors.set(digest, (found = this.tokenRecord(digest).then((record) => record?.accessor)));
    return found;
  }
}

function fromLease(id: string, record: LeaseRecord): LeaseRow {
  return {
    id,
    type: 'secret',
    state: stateOf(record),
    path: record.path,
    issued: record.issued,
    expires: record.expires,
    lastRenewal: record.last_renewal,
    renewable: record.renewable,
    due: record.due,
    attempts: record.attempts,
    error: record.revoke_error,
  };
}

function stateOf({ irrevocable, waiting, revoking }: LeaseRecord): LeaseState {
  if (irrevocable) return 'irrevocable';
  if (waiting) return 'waiting';
  return revoking ? 'revoking' : 'live';
}

function fromToken(digest: string, record: TokenRecord): LeaseRow | undefined {
  if (record.due === undefined) return undefined;
  return {
    id: `${record.path}/${digest}`,
    type: 'token',
    state: record.revoking ? 'revoking' : 'live',
    path: record.path,
    issued: record.created,
    expires: record.expires,
    lastRenewal: record.last_renewal,
    renewable: record.renewable,
    accessor: record.accessor,
    due: record.due,
    attempts: record.attempts ?? 0,
  };
}
