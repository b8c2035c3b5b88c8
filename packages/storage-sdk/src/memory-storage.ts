import type {
  Change,
  Entry,
  RangeQuery,
  Replacement,
  Staleness,
  StorageDriver,
  StoreCopy,
  Stored,
  StoredEntry,
  Unsubscribe,
} from './driver.ts';
import { encodeEntries, entryBytes } from './entry-stream.ts';
import { Conflict, StorageClosed, StorageFailure } from './errors.ts';
import { checkKeys } from './key.ts';
import { SortedEntries } from './sorted-entries.ts';

const NAME = 'inmem';
/** Entries of a copy that are encoded at a time. */
const PART = 256;
const EMPTY = new Uint8Array(0);
/** Nobody else writes here. */
const CURRENT: Staleness = { millis: 0 };
const SWAPPED = /[\ud800-\uffff]/;

/** UTF-16 sorts surrogates below U+E000..U+FFFF and UTF-8 above them: exchange the two so that code units sort like UTF-8 bytes. */
function toSorted(key: string): string {
  return SWAPPED.test(key) ? shift(key, (unit) => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)) : key;
}

function fromSorted(key: string): string {
  return SWAPPED.test(key) ? shift(key, (unit) => (unit < 0xd800 ? unit : unit >= 0xf800 ? unit - 0x2000 : unit + 0x800)) : key;
}

function shift(key: string, of: (unit: number) => number): string {
  let out = '';
  for (let i = 0; i < key.length; i++) out += String.fromCharCode(of(key.charCodeAt(i)));
  return out;
}

const always = (): boolean => true;
const never = (): boolean => false;

async function* inParts(entries: readonly Entry[]): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < entries.length; at += PART) yield encodeEntries(entries.slice(at, at + PART));
}

/** A store that lives and dies with this process: the reference driver, for development and tests. */
export function memoryStorage(): StorageDriver {
  let entries = new SortedEntries();
  let version = 0;
  let closed = false;

  const assertOpen = (): void => {
    if (closed) throw new StorageClosed(NAME);
  };

  return {
    name: NAME,
    shared: false,

    async get(key: string): Promise<Stored | undefined> {
      assertOpen();
      const stored = entries.get(toSorted(key));
      return stored && { value: new Uint8Array(stored.value), version: stored.version };
    },

    async range(query: RangeQuery): Promise<StoredEntry[]> {
      assertOpen();
      const limit = query.limit ?? Infinity;
      const prefix = toSorted(query.prefix ?? '');
      const after = query.after === undefined ? undefined : toSorted(query.after);
      const before = query.before === undefined ? undefined : toSorted(query.before);
      const found: StoredEntry[] = [];
      if (limit <= 0) return found;
      const begins = (key: string): boolean => key >= prefix && (after === undefined || key > after);
      const ends = (key: string): boolean => (key > prefix && !key.startsWith(prefix)) || (before !== undefined && key >= before);
      for (const [key, stored] of entries.between(begins, ends, query.reverse === true)) {
        found.push({ key: fromSorted(key), value: query.keysOnly ? EMPTY : new Uint8Array(stored.value), version: stored.version });
        if (found.length >= limit) break;
      }
      return found;
    },

    async commit(change: Change): Promise<number> {
      assertOpen();
      checkKeys(NAME, change);
      for (const expected of change.expect ?? []) {
        if (entries.get(toSorted(expected.key))?.version !== expected.version) throw new Conflict(expected.key);
      }
      version += 1;
      for (const key of change.delete ?? []) entries.delete(toSorted(key));
      for (const { key, value } of change.put ?? []) entries.set(toSorted(key), { value: new Uint8Array(value), version });
      return version;
    },

    changes(): Unsubscribe {
      assertOpen();
      return () => undefined;
    },

    staleness: () => CURRENT,

    async copy(): Promise<StoreCopy> {
      assertOpen();
      // A stored value is never changed, so that the list alone is a copy.
      const copied: Entry[] = [];
      let bytes = 0;
      for (const [key, { value }] of entries.between(always, never, false)) {
        copied.push({ key: fromSorted(key), value });
        bytes += entryBytes(Buffer.byteLength(fromSorted(key)), value.length);
      }
      return { entries: copied.length, bytes, read: () => inParts(copied), close: async () => undefined };
    },

    async replace(): Promise<Replacement> {
      assertOpen();
      const next = new SortedEntries();
      let over = false;
      return {
        async put(added) {
          checkKeys(NAME, { put: added });
          for (const { key, value } of added) next.set(toSorted(key), { value: new Uint8Array(value), version: 0 });
        },
        async install() {
          assertOpen();
          if (over) throw new StorageFailure(NAME, 'the replacement was given up');
          over = true;
          version += 1;
          for (const [key, { value }] of [...next.between(always, never, false)]) next.set(key, { value, version });
          entries = next;
        },
        async discard() {
          over = true;
        },
      };
    },

    async close(): Promise<void> {
      closed = true;
    },
  };
}
