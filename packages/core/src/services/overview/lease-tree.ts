import { setImmediate as nextTurn } from 'node:timers/promises';
import { BadRequest } from '@strongroom/engine-sdk';
import { IRREVOCABLE, WAITING } from '../leases/lease-index.ts';
import { leaseRecords } from '../leases/lease-record.ts';
import type { Store } from '../../kernel/storage/store.ts';
import { at, below, isBelow } from './lease-ids.ts';
import { LeaseRows, type LeaseRow, type TokenReader } from './lease-row.ts';

/** How much one call reads at most. */
export interface TreeBounds {
  readonly keys: number;
  /** What one read brings. */
  readonly page: number;
  /** What is counted of one folder: in short lists, and in long ones. */
  readonly most: number;
  readonly least: number;
}

const BOUNDS: TreeBounds = { keys: 50_000, page: 1_000, most: 1_000, least: 100 };

/** A number of leases; with `more`, there are more than these. */
export interface Count {
  readonly count: number;
  readonly more: boolean;
}

export interface LeaseFolder extends Count {
  /** The next segment, with a closing slash. */
  readonly name: string;
}

export interface LeaseLevel {
  readonly folders: readonly LeaseFolder[];
  /** Leases that are in no folder of this level; counted as far as this call went. */
  readonly here: number;
  readonly next?: string;
}

export interface LeaseTotals {
  /** Leases of secrets and tokens. */
  readonly leases: number;
  /** There are more; their number is to be added. */
  readonly next?: string;
  /** Of those at and below the path: the ones whose revocation failed or was postponed, and those of them that are irrevocable. */
  readonly failing: Count & { readonly irrevocable: number };
}

/** Leases by their paths, and those whose revocation fails. Every call reads a bounded number of keys. */
export class LeaseTree {
  readonly #store: Store;
  readonly #tokens: TokenReader;
  readonly #bounds: TreeBounds;

  constructor(parts: { store: Store; tokens: TokenReader; bounds?: TreeBounds }) {
    this.#store = parts.store;
    this.#tokens = parts.tokens;
    this.#bounds = parts.bounds ?? BOUNDS;
  }

  /** The folders below a path, at most `limit`, with the number of leases in each. */
  async level(prefix: string, { after, limit }: { after?: string | undefined; limit: number }): Promise<LeaseLevel> {
    const folder = leaseRecords.key(below(prefix));
    const names: string[] = [];
    let [here, read, last] = [0, 0, after];
    let done = false;
    while (!done && names.length < limit && read < this.#bounds.keys) {
      const page = await this.#store.folder(folder, { limit: this.#bounds.page, ...(last === undefined ? {} : { after: last }) });
      read += page.length;
      for (const name of page) {
        last = name;
        if (!name.endsWith('/')) here += 1;
        else if (names.push(name) >= limit) break;
      }
      done = page.length < this.#bounds.page && last === (page.at(-1) ?? last);
      await nextTurn();
    }
    const { keys, most, least } = this.#bounds;
    const each = Math.max(least, Math.min(most, Math.floor(keys / Math.max(1, names.length))));
    const folders: LeaseFolder[] = [];
    for (const name of names) {
      folders.push({ name, ...(await this.#countUpTo(folder + name, each)) });
      await nextTurn();
    }
    return { folders, here, ...(done || last === undefined ? {} : { next: last }) };
  }

  /** Exact, as far as this call went. `after`: the `next` of an earlier call. */
  async totals(prefix: string, after: string | undefined): Promise<LeaseTotals> {
    const failing = { count: 0, irrevocable: 0, more: false };
    if (after === undefined) {
      const page = await this.#waiting(prefix, undefined, Infinity);
      for (const id of page.ids) {
        failing.count += 1;
        if (await this.#store.isMark(IRREVOCABLE + id)) failing.irrevocable += 1;
      }
      failing.more = page.next !== undefined;
    }
    const folder = leaseRecords.key(below(prefix));
    let leases = after === undefined ? (await at(this.#store, prefix)).length : 0;
    let last = after === undefined ? undefined : leaseRecords.key(after);
    for (let read = 0; read < this.#bounds.keys; read += this.#bounds.page) {
      const keys = await this.#store.keys({ prefix: folder, limit: this.#bounds.page, ...(last === undefined ? {} : { after: last }) });
      leases += keys.length;
      if (keys.length < this.#bounds.page) return { leases, failing };
      last = keys.at(-1)!;
      await nextTurn();
    }
    return { leases, failing, next: last!.slice(leaseRecords.prefix.length) };
  }

  /** Leases whose revocation failed or was postponed, at most `limit`. */
  async failing(
    prefix: string,
    { after, limit }: { after?: string | undefined; limit: number },
  ): Promise<{ rows: LeaseRow[]; next?: string }> {
    const { ids, next } = await this.#waiting(prefix, after, limit);
    const rows = new LeaseRows(this.#store, this.#tokens);
    const found: LeaseRow[] = [];
    for (const id of ids) {
      const row = await rows.ofSecret(id);
      if (row && row.state !== 'live') found.push(row);
    }
    return { rows: found, ...(next === undefined ? {} : { next }) };
  }

  async #countUpTo(prefix: string, most: number): Promise<Count> {
    const keys = await this.#store.keys({ prefix, limit: most + 1 });
    return { count: Math.min(keys.length, most), more: keys.length > most };
  }

  /** Their index is ordered by mount; a lease keeps its id when its mount moves. */
  async #waiting(prefix: string, after: string | undefined, limit: number): Promise<{ ids: string[]; next?: string }> {
    if (after !== undefined && !after.includes('/')) throw new BadRequest('after: must be the `next` of an earlier answer');
    const ids: string[] = [];
    let last = after === undefined ? undefined : WAITING + after;
    for (let read = 0; read < this.#bounds.keys; read += this.#bounds.page) {
      const keys = await this.#store.keys({ prefix: WAITING, limit: this.#bounds.page, ...(last === undefined ? {} : { after: last }) });
      for (const key of keys) {
        last = key;
        const id = key.slice(key.indexOf('/', WAITING.length) + 1);
        if (!isBelow(id, prefix)) continue;
        if (ids.push(id) >= limit) return { ids, next: key.slice(WAITING.length) };
      }
      if (keys.length < this.#bounds.page) return { ids };
      await nextTurn();
    }
    return { ids, next: last!.slice(WAITING.length) };
  }
}
