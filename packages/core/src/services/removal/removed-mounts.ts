import { randomBytes } from 'node:crypto';
import type { Log } from '@strongroom/engine-sdk';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import type { LeftOutside } from '../outside/left-outside.ts';

const REMOVED = 'core/removed/';
/** Lists that are kept, and things that one list names: the newest lists count, and the log has every thing. */
const KEPT = 100;
const LONGEST = 10_000;

/** What a mount left outside when it was removed. */
export interface RemovedMount {
  readonly path: string;
  readonly type: string;
  readonly accessor: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly forced: boolean;
  readonly left: readonly LeftOutside[];
  /** All there were, where `left` does not name all. */
  readonly count: number;
  /** Why the list may be incomplete. */
  readonly unlisted?: string;
}

/** What removed mounts left outside, for operators who come later: kept until a hundred others have followed. */
export class RemovedMounts {
  readonly #store: Store;
  readonly #log: Log;

  constructor(parts: { store: Store; log: Log }) {
    this.#store = parts.store;
    this.#log = parts.log;
  }

  async note(tx: StoreTransaction, mount: Omit<RemovedMount, 'count'>): Promise<void> {
    const id = `${String(mount.at).padStart(14, '0')}-${randomBytes(6).toString('hex')}`;
    tx.put(REMOVED + id, { ...mount, left: mount.left.slice(0, LONGEST), count: mount.left.length } satisfies RemovedMount);
    const keys = await this.#store.keys({ prefix: REMOVED });
    for (const key of keys.slice(0, Math.max(0, keys.length + 1 - KEPT))) tx.delete(key);
  }

  /** The newest first. */
  async list(): Promise<RemovedMount[]> {
    const entries = await this.#store.entries<RemovedMount>({ prefix: REMOVED }, (error) => this.#log.error(error.message));
    return entries.map(([, record]) => record).reverse();
  }
}
