import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { type Clock, type Log } from '@strongroom/engine-sdk';
import type { Barrier } from '../../kernel/barrier/barrier.ts';
import { CorruptRecord } from '../../kernel/barrier/key-ring.ts';
import type { MaybePromise } from '../../kernel/storage/maybe-promise.ts';
import { DueRecords } from '../../kernel/work/due-records.ts';
import { CLAIM } from '../../kernel/work/due-work.ts';
import { realign, type DueEntry } from '../../kernel/work/schedule-index.ts';
import { Type } from 'typebox';
import { BY_TOKEN } from '../leases/lease-index.ts';
import { Records, SingleRecord } from '../../kernel/storage/records.ts';
import { byBytes, type Store, type StoreTransaction } from '../../kernel/storage/store.ts';
import { openBatchToken, sealBatchToken, type BatchTokenClaims } from './batch-token.ts';
import { digestOf, newAccessor, newServiceToken, placeOfAccessor, placeOfToken } from './token-id.ts';
import { tokenRecords, ttlLeft, type TokenRecord } from './token-record.ts';
import { Tombstones } from './tombstones.ts';

const saltRecord = new SingleRecord('core/token-salt', Type.Object({ salt: Type.String() }));
/** One key for each service token. */
export const ACCESSORS = 'accessor/';
/** By the digest of the accessor, which has its place before it where that of the token has. */
const accessorRecords = new Records(ACCESSORS, Type.Object({ accessor: Type.String(), digest: Type.String() }));
const CHILDREN = 'token-child/';
/** What a token keeps for itself, by its digest. */
export const CUBBYHOLE = 'cubbyhole/';
/** The tokens that a person watches, by their end: see `isWatched`. */
const WATCHED = 'watched-token/';
/** Stored once every token that is watched has its entry, also those that servers made before there was such an index. */
const watchedRecord = new SingleRecord('core/watched-tokens', Type.Object({ complete: Type.Boolean() }));
/** A token that was made to last at least this long. Milliseconds. */
const LASTING = 7 * 86_400_000;
/** Keys that are listed at most to learn on which of several tokens something hangs. */
const SPAN = 64;
/** The character after the slash: a bound behind all that is in a folder. */
const BEHIND_SLASH = '0';
/** Longer than any request: a token that has had its last use is ended by the schedule if its last request did not get to it. */
const AFTER_LAST_USE = 120_000;

export interface FoundToken {
  readonly digest: string;
  readonly record: TokenRecord;
  readonly type: 'service' | 'batch';
}

/** A token that is to end; with `entry` because of this entry of the schedule. */
export interface Ending {
  readonly digest: string;
  readonly entry?: DueEntry;
}

/** A token whose end is the caller's. */
export interface Begun {
  readonly digest: string;
  /** Set where the record is gone or damaged: the key of its tombstone. */
  readonly tombstone?: string;
}

/**
 * Tokens in the store, by digest: `token/<digest>` the record, `accessor/<digest of the accessor>` the way to it,
 * `token-child/<parent>/<child>` the family, `lease/<path>/<digest>` and the schedule its end.
 */
export class TokenStore {
  readonly tombstones: Tombstones;
  readonly #store: Store;
  readonly #records: DueRecords<TokenRecord>;
  readonly #barrier: Barrier;
  readonly #clock: Clock;
  readonly #log: Log;
  #salt: KeyObject | undefined;

  constructor(options: { store: Store; barrier: Barrier; clock: Clock; log: Log }) {
    this.tombstones = new Tombstones(options);
    this.#store = options.store;
    this.#records = new DueRecords({ ...options, kind: 'token', records: tokenRecords, marks: tokenMarks, final: true });
    this.#barrier = options.barrier;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** After unseal: loads the salt, or makes it once. */
  async open(): Promise<void> {
    const salt = await this.#store.transaction(async (tx) => {
      const found = await saltRecord.get(tx);
      if (found) return found.salt;
      const made = randomBytes(32).toString('base64');
      saltRecord.put(tx, { salt: made });
      return made;
    });
    this.#salt = createSecretKey(salt, 'base64');
  }

  close(): void {
    this.#salt = undefined;
  }

  /** The digest under which a token is stored that somebody chose. */
  digestOfChosen(token: string): string {
    return this.#bareDigest(token);
  }

  /** The digest under which a token is stored, or would be. */
  async digest(token: string): Promise<string> {
    const bare = this.#bareDigest(token);
    const placed = placeOfToken(token) + bare;
    return placed !== bare && !(await this.#isStored(placed)) && (await this.#isStored(bare)) ? bare : placed;
  }

  /** A token that is good now; undefined for anything else. One store read, which may give the answer at once, and another one for a token that is not there. */
  find(token: string): MaybePromise<FoundToken | undefined> {
    if (token.startsWith('b.')) return this.#findBatch(token);
    const bare = this.#bareDigest(token);
    const placed = placeOfToken(token) + bare;
    const record = this.#records.lookUp(placed);
    if (record instanceof Promise) return record.then(async (later) => (later ? this.#alive(placed, later) : this.#findBare(placed, bare)));
    return record ? this.#alive(placed, record) : this.#findBare(placed, bare);
  }

  /** Servers of version 0.1 stored all tokens without a place before their digests. */
  #findBare(placed: string, bare: string): MaybePromise<FoundToken | undefined> {
    if (placed === bare) return undefined;
    const record = this.#records.lookUp(bare);
    return record instanceof Promise ? record.then((later) => this.#alive(bare, later)) : this.#alive(bare, record);
  }

  #bareDigest(text: string): string {
    if (!this.#salt) throw new Error('the token store is not open');
    return digestOf(this.#salt, text);
  }

  /** Whether there is a record, readable or not. */
  async #isStored(digest: string): Promise<boolean> {
    return (await this.#store.keys({ prefix: this.#records.prefix + digest, limit: 1 })).length > 0;
  }

  #alive(digest: string, record: TokenRecord | undefined): FoundToken | undefined {
    if (!record) return undefined;
    const found: FoundToken = { digest, record, type: 'service' };
    return this.#dead(found) ? undefined : found;
  }

  /** The record, also of a token that has ended. */
  async byDigest(digest: string): Promise<FoundToken | undefined> {
    const record = await this.#records.get(digest);
    return record && { digest, record, type: 'service' };
  }

  async byAccessor(accessor: string): Promise<FoundToken | undefined> {
    const bare = this.#bareDigest(accessor);
    const placed = placeOfAccessor(accessor) + bare;
    const pointer =
      (await accessorRecords.get(this.#store, placed)) ?? (placed === bare ? undefined : await accessorRecords.get(this.#store, bare));
    const found = pointer && (await this.byDigest(pointer.digest));
    return found && !this.#dead(found) ? found : undefined;
  }

  async #findBatch(token: string): Promise<FoundToken | undefined> {
    const claims = openBatchToken(this.#barrier.ring, token);
    if (!claims || claims.expires <= this.#clock.millis()) return undefined;
    if (claims.parent !== undefined) {
      const parent = await this.byDigest(claims.parent);
      if (!parent || this.#dead(parent)) return undefined;
    }
    return { digest: '', type: 'batch', record: { ...claims, accessor: '', renewable: false } };
  }

  #dead({ record }: FoundToken): boolean {
    return record.revoking === true || (record.expires !== 0 && record.expires <= this.#clock.millis());
  }

  makeBatch(claims: BatchTokenClaims): string {
    return sealBatchToken(this.#barrier.ring, claims);
  }

  /** Stores a service token with all its index entries. `id`: a token chosen by the caller. */
  create(tx: StoreTransaction, record: Omit<TokenRecord, 'accessor'>, id?: string): { token: string; digest: string; record: TokenRecord } {
    const now = this.#clock.millis();
    const token = id ?? newServiceToken(now);
    const digest = (id === undefined ? placeOfToken(token) : '') + this.#bareDigest(token);
    const full: TokenRecord = { ...record, accessor: newAccessor(now) };
    if (full.expires !== 0) full.due = full.expires;
    if (id === undefined) this.#records.put(tx, digest, undefined, full);
    else this.#records.create(tx, digest, full);
    accessorRecords.put(tx, this.#accessorDigest(full.accessor, digest), { accessor: full.accessor, digest });
    return { token, digest, record: full };
  }

  /** Changes the record in a transaction; `change` may return undefined to leave it. Moves the expiry with it. */
  async update(digest: string, change: (record: TokenRecord) => TokenRecord | undefined): Promise<TokenRecord | undefined> {
    return this.#store.transaction(async (tx) => {
      const record = await this.#records.get(digest, tx);
      if (!record) return undefined;
      const next = change(record);
      if (!next) return record;
      this.write(tx, digest, record, next);
      return next;
    });
  }

  write(tx: StoreTransaction, digest: string, before: TokenRecord, next: TokenRecord): void {
    this.#records.put(tx, digest, before, next);
  }

  /**
   * Takes one use; undefined when none is left or the token is gone. The record shows what is left after this use,
   * -1 standing for the last one: the caller revokes the token when the request is over.
   */
  async use(digest: string): Promise<TokenRecord | undefined> {
    let refused = false;
    const record = await this.update(digest, (current) => {
      refused = current.revoking === true || (current.num_uses ?? 0) < 0;
      if (refused || !current.num_uses) return undefined;
      if (current.num_uses > 1) return { ...current, num_uses: current.num_uses - 1 };
      const end = this.#clock.millis() + AFTER_LAST_USE;
      return { ...current, num_uses: -1, due: current.due === undefined ? end : Math.min(current.due, end) };
    });
    return refused ? undefined : record;
  }

  /**
   * The tokens are dead from here on; the schedule goes on with their end if whoever calls this does not. With `entry` only if the token
   * is still due then. Resolves with those whose revocation is the caller's.
   */
  async beginRevocation(tokens: readonly Ending[]): Promise<Begun[]> {
    return this.#store.transaction(async (tx) => {
      const ours: Begun[] = [];
      const due = this.#clock.millis() + CLAIM;
      for (const { digest, entry } of tokens) {
        const record = await this.#records.get(digest, tx).catch(damaged);
        if (record === undefined || record === DAMAGED) {
          // Nobody can use such a token, and no record says that its end has begun.
          ours.push(entry || record === DAMAGED ? { digest, tombstone: this.#bury(tx, digest, entry) } : { digest });
          continue;
        }
        if (entry && record.due !== entry.at) {
          realign(tx, entry, record.due);
          continue;
        }
        if (entry || !record.revoking) this.write(tx, digest, record, { ...record, revoking: true, due });
        ours.push({ digest });
      }
      return ours;
    });
  }

  /**
   * Removes tokens on which nothing was found to hang, in one commit. What is hung on one of them until then is still there: the caller looks for it, and
   * takes the tombstone away afterwards, with a later call. With `entry` only if the token is still due then.
   */
  async removeBare(tokens: readonly Ending[], tombstones: readonly string[]): Promise<Begun[]> {
    return this.#store.transaction(async (tx) => {
      for (const tombstone of tombstones) tx.delete(tombstone);
      const ours: Begun[] = [];
      for (const { digest, entry } of tokens) {
        const record = await this.#records.get(digest, tx).catch(damaged);
        if (record === undefined && !entry) {
          ours.push({ digest });
          continue;
        }
        if (record === DAMAGED) this.#removeDamaged(tx, digest);
        else if (entry && record && record.due !== entry.at) {
          realign(tx, entry, record.due);
          continue;
        } else if (record) this.#remove(tx, digest, record);
        ours.push({ digest, tombstone: this.#bury(tx, digest, entry) });
      }
      return ours;
    });
  }

  /** Puts a tombstone in the place of the entry, if there is one. */
  #bury(tx: StoreTransaction, digest: string, entry: DueEntry | undefined): string {
    if (entry) tx.delete(entry.key);
    return this.tombstones.put(tx, digest);
  }

  /** Nothing hangs any more on a token whose record is gone or damaged. */
  async forget(digest: string, tombstone: string): Promise<void> {
    await this.#store.transaction(async (tx) => {
      if ((await this.#records.get(digest, tx).catch(damaged)) === DAMAGED) this.#removeDamaged(tx, digest);
      tx.delete(tombstone);
    });
  }

  /** Whether there is a token, also one that has ended. A damaged record is none. */
  async exists(digest: string): Promise<boolean> {
    return (await this.#records.readable(digest)) !== undefined;
  }

  /**
   * Those of the tokens on which something hangs: children, leases, or what is in their cubbyholes. Three reads, unless much hangs on tokens whose
   * digests lie between them.
   */
  async laden(digests: readonly string[]): Promise<Set<string>> {
    const laden = new Set<string>();
    // With their slashes, so that they are in the order of the keys, whatever their lengths.
    const folders = digests.map((digest) => `${digest}/`).sort(byBytes);
    const [first, last] = [folders[0], folders[folders.length - 1]];
    if (first === undefined || last === undefined) return laden;
    const span = { after: first, before: `${last.slice(0, -1)}${BEHIND_SLASH}` };
    await Promise.all(
      [CHILDREN, BY_TOKEN, CUBBYHOLE].map(async (prefix) => {
        const keys = await this.#store.keys({ prefix, after: prefix + span.after, before: prefix + span.before, limit: SPAN });
        if (keys.length < SPAN) {
          for (const key of keys) laden.add(key.slice(prefix.length, key.indexOf('/', prefix.length)));
          return;
        }
        await Promise.all(
          digests.map(async (digest) => {
            if ((await this.#store.keys({ prefix: `${prefix}${digest}/`, limit: 1 })).length > 0) laden.add(digest);
          }),
        );
      }),
    );
    return laden;
  }

  /**
   * Removes the record of a revoked token with its index entries. What hung on it is already gone. `parent`: whose child it was listed as. A token that
   * was made again with the same id since another process removed this one is not revoked, and stays.
   */
  async remove(
    digest: string,
    { parent, tombstone }: { readonly parent: string | undefined; readonly tombstone: string | undefined },
  ): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const record = await this.#records.get(digest, tx).catch(damaged);
      if (parent !== undefined && (record === undefined || record === DAMAGED || record.revoking)) tx.delete(childKey(parent, digest));
      if (tombstone !== undefined) tx.delete(tombstone);
      if (record === DAMAGED) this.#removeDamaged(tx, digest);
      else if (record?.revoking) this.#remove(tx, digest, record);
    });
  }

  #remove(tx: StoreTransaction, digest: string, record: TokenRecord): void {
    this.#records.remove(tx, digest, record);
    accessorRecords.delete(tx, this.#accessorDigest(record.accessor, digest));
  }

  /** `digest`: of its token. A place stands before both or neither. */
  #accessorDigest(accessor: string, digest: string): string {
    const bare = this.#bareDigest(accessor);
    return digest.length === bare.length ? bare : placeOfAccessor(accessor) + bare;
  }

  #removeDamaged(tx: StoreTransaction, digest: string): void {
    this.#records.removeDamaged(tx, digest);
    this.#log.error('the damaged record of a revoked token was removed', { digest });
  }

  /** Digests of the tokens that this one made. */
  async children(digest: string, limit = 1_000): Promise<string[]> {
    const prefix = `${CHILDREN}${digest}/`;
    return (await this.#store.keys({ prefix, limit })).map((key) => key.slice(prefix.length));
  }

  /** Digests of root tokens without end, and of lasting tokens that end before `until`, in this order. Milliseconds. */
  async watched(until: number, limit: number): Promise<string[]> {
    const keys = await this.#store.keys({ prefix: WATCHED, before: WATCHED + stamp(until), limit });
    return keys.map((key) => key.slice(key.lastIndexOf('/') + 1));
  }

  /** Once for each store: gives the tokens of earlier versions their entries among those that are watched. It reads all tokens, page by page. */
  async completeWatched(): Promise<void> {
    if (await watchedRecord.get(this.#store)) return;
    for await (const page of this.#records.pages((error) => this.#log.error(error.message))) {
      const digests = page.flatMap(([digest, record]) => (isWatched(record) ? [digest] : []));
      if (digests.length === 0) continue;
      await this.#store.transaction(async (tx) => {
        for (const digest of digests) {
          const record = await this.#records.readable(digest, tx);
          if (record && isWatched(record)) tx.mark(watchedKey(digest, record));
        }
      });
    }
    await this.#store.transaction(async (tx) => watchedRecord.put(tx, { complete: true }));
  }

  /** Makes a child an orphan; its parent's end no longer ends it. */
  async detach(parent: string, child: string): Promise<void> {
    await this.#store.transaction(async (tx) => {
      tx.delete(childKey(parent, child));
      const record = await this.#records.get(child, tx);
      if (record?.parent !== parent) return;
      const { parent: _gone, ...orphan } = record;
      this.#records.put(tx, child, record, orphan);
    });
  }

  /** Accessors of all tokens, read page by page so that others are not kept waiting. */
  async accessors(): Promise<string[]> {
    const accessors: string[] = [];
    for await (const page of accessorRecords.pages(this.#store, (error) => this.#log.error(error.message))) {
      for (const [, { accessor }] of page) accessors.push(accessor);
    }
    return accessors;
  }

  ttl(record: TokenRecord): number {
    return ttlLeft(record, this.#clock.millis());
  }
}

const DAMAGED = Symbol('damaged record');

function damaged(error: unknown): typeof DAMAGED {
  if (!(error instanceof CorruptRecord)) throw error;
  return DAMAGED;
}

function childKey(parent: string, child: string): string {
  return `${CHILDREN}${parent}/${child}`;
}

/** The keys under which a token is found besides its digest: its parent's children, and its lease, whose entry is empty because the record says the rest. */
function tokenMarks(digest: string, record: TokenRecord): string[] {
  const { parent, path, expires } = record;
  const marks = parent === undefined ? [] : [childKey(parent, digest)];
  if (expires !== 0) marks.push(`lease/${path}/${digest}`);
  if (isWatched(record)) marks.push(watchedKey(digest, record));
  return marks;
}

/** A root token without end, or one that was made to last, and not by a login: somebody has to see to it before it ends. */
function isWatched({ policies, expires, created, mount, wrap }: TokenRecord): boolean {
  if (expires === 0) return policies.includes('root');
  return mount === undefined && wrap === undefined && expires - created >= LASTING;
}

const watchedKey = (digest: string, { expires }: TokenRecord): string => `${WATCHED}${stamp(expires)}/${digest}`;

function stamp(millis: number): string {
  return String(Math.max(0, Math.trunc(millis))).padStart(14, '0');
}
