import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '@strongroom/engine-sdk';
import type { CoreEvent } from '../events/core-event.ts';

/** Ids that are counted at a time. */
const PAGE = 1_000;
/** Milliseconds between two counts of the store; longer where a count takes long. */
const AGE = 600_000;
/** A count takes at most this share of the time. */
const SHARE = 50;

interface Parts {
  readonly log: Log;
  /** Milliseconds. */
  readonly now: () => number;
  /** Ids in order, with whether they are leases of tokens. */
  readonly ids: (prefix: string, query: { after?: string; limit: number }) => Promise<{ id: string; token: boolean }[]>;
  /** Uuid of the mount that a path belongs to. */
  readonly mountOf: (path: string) => string | undefined;
}

/**
 * How many leases live, by mount. The store is counted rarely, page by page; in between, what is issued and revoked is added and taken off. Leases of tokens
 * are not among them.
 */
export class LiveLeases {
  readonly #parts: Parts;
  #counted: ReadonlyMap<string, number> | undefined;
  #tokens: ReadonlyMap<string, number> = new Map();
  /** What came and went since the last count began. */
  #since = new Map<string, number>();
  #at = -Infinity;
  #took = 0;
  #counting: Promise<void> | undefined;
  /** Rises whenever what was counted is to be forgotten. */
  #epoch = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Undefined before the first count. */
  get total(): number | undefined {
    if (!this.#counted) return undefined;
    return [...this.byMount().values()].reduce((sum, count) => sum + count, 0);
  }

  /** By the mount's uuid; empty before the first count. */
  byMount(): Map<string, number> {
    const all = new Map(this.#counted);
    if (!this.#counted) return all;
    for (const [mount, change] of this.#since) all.set(mount, Math.max(0, (all.get(mount) ?? 0) + change));
    return all;
  }

  /** Leases of tokens by the uuid of the mount that issued them, as the last count found them. */
  tokensByMount(): ReadonlyMap<string, number> {
    return this.#tokens;
  }

  readonly event = ({ kind, mount = '' }: Pick<CoreEvent, 'kind' | 'mount'>): void => {
    const change = kind === 'lease.issued' ? 1 : kind === 'lease.revoked' ? -1 : 0;
    if (change !== 0) this.#since.set(mount, (this.#since.get(mount) ?? 0) + change);
  };

  /** Counts the store in the background if the last count is old. */
  refresh(): void {
    const old = this.#parts.now() - this.#at > Math.max(AGE, SHARE * this.#took);
    if (!old || this.#counting) return;
    this.#counting = this.#count()
      .catch((error: unknown) => this.#parts.log.warn('the leases could not be counted', { error: String(error) }))
      .finally(() => (this.#counting = undefined));
  }

  /** Resolves when no count is under way. */
  async counted(): Promise<void> {
    await this.#counting;
  }

  /** At seal: others may change the store from now on. */
  forget(): void {
    this.#epoch += 1;
    this.#counted = undefined;
    this.#tokens = new Map();
    this.#since = new Map();
    this.#at = -Infinity;
  }

  async #count(): Promise<void> {
    const epoch = this.#epoch;
    const began = this.#parts.now();
    this.#at = began;
    const since = new Map<string, number>();
    const before = this.#since;
    // From here on, changes count beside the new count; the shown number keeps the old ones until it is there.
    const counts = new Map<string, number>();
    const tokens = new Map<string, number>();
    const seen = new Map(before);
    let after: string | undefined;
    do {
      const page = await this.#parts.ids('', { limit: PAGE, ...(after === undefined ? {} : { after }) });
      if (epoch !== this.#epoch) return;
      for (const { id, token } of page) {
        const mount = this.#parts.mountOf(id);
        const of = token ? tokens : counts;
        if (mount !== undefined) of.set(mount, (of.get(mount) ?? 0) + 1);
      }
      after = page.length < PAGE ? undefined : page.at(-1)!.id;
      await nextTurn();
    } while (after !== undefined);
    if (epoch !== this.#epoch) return;
    for (const [mount, change] of this.#since) {
      const during = change - (seen.get(mount) ?? 0);
      if (during !== 0) since.set(mount, during);
    }
    this.#counted = counts;
    this.#tokens = tokens;
    this.#since = since;
    this.#took = this.#parts.now() - began;
  }
}
