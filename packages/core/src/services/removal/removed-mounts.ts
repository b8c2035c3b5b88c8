import { randomBytes } from 'node:crypto';
import type { Log } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';

/** Lists that are kept, and things that one list names: the newest lists count, and the log has every thing. */
const KEPT = 100;
const LONGEST = 10_000;

const LeftOutside = Type.Object({
  kind: Type.String(),
  name: Type.String(),
  system: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  lease: Type.Optional(Type.String()),
  intent: Type.Optional(Type.String()),
});

/** What a mount left outside when it was removed, as stored below `core/removed/`. */
export const RemovedMount = Type.Object({
  path: Type.String(),
  type: Type.String(),
  accessor: Type.String(),
  /** Milliseconds since the epoch. */
  at: Type.Number(),
  forced: Type.Boolean(),
  left: Type.Array(LeftOutside),
  /** All there were, where `left` does not name all. */
  count: Type.Number(),
  /** Why the list may be incomplete. */
  unlisted: Type.Optional(Type.String()),
});
export type RemovedMount = Static<typeof RemovedMount>;

/** What is noted of a mount that goes. */
type Noted = Omit<RemovedMount, 'count' | 'left'> & { readonly left: readonly RemovedMount['left'][number][] };

const removed = new Records('core/removed/', RemovedMount);

/** What removed mounts left outside, for operators who come later: kept until a hundred others have followed. */
export class RemovedMounts {
  readonly #store: Store;
  readonly #log: Log;

  constructor(parts: { store: Store; log: Log }) {
    this.#store = parts.store;
    this.#log = parts.log;
  }

  async note(tx: StoreTransaction, mount: Noted): Promise<void> {
    const id = `${String(mount.at).padStart(14, '0')}-${randomBytes(6).toString('hex')}`;
    removed.put(tx, id, { ...mount, left: mount.left.slice(0, LONGEST), count: mount.left.length });
    const keys = await this.#store.keys({ prefix: removed.prefix });
    for (const key of keys.slice(0, Math.max(0, keys.length + 1 - KEPT))) tx.delete(key);
  }

  /** The newest first. */
  async list(): Promise<RemovedMount[]> {
    const entries = await removed.entries(this.#store, {}, (error) => this.#log.error(error.message));
    return entries.map(([, record]) => record).reverse();
  }
}
