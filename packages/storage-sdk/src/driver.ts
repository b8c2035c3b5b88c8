/** Longest key a driver must take, in bytes of UTF-8. LMDB sets the bound; no driver takes longer ones. */
export const MAX_KEY_BYTES = 1_900;

/** A value, and which version of it. */
export interface Stored {
  readonly value: Uint8Array;
  /** Positive; differs from every earlier version of the same key, also across a delete and a new put. */
  readonly version: number;
}

/** A value with its key. */
export interface StoredEntry extends Stored {
  readonly key: string;
}

/** Stands for the answer of a driver that cannot give one at once. */
export const LATER: unique symbol = Symbol('the answer takes time');

/** What `getSync` answers where the store has the version that the caller knows. */
export const UNCHANGED: unique symbol = Symbol('the version is the one that the caller knows');

/** Keys are ordered by their UTF-8 bytes. `after` and `before` are exclusive, need not exist and may be longer than a key. */
export interface RangeQuery {
  readonly prefix?: string;
  readonly after?: string;
  readonly before?: string;
  /** At most this many entries; absent means all. */
  readonly limit?: number;
  /** Descending order. */
  readonly reverse?: boolean;
  /** Entries come with an empty value; cheaper where values are large. */
  readonly keysOnly?: boolean;
}

/** What a key must be when the change is applied: at that version, or absent. */
export interface Expectation {
  readonly key: string;
  readonly version: number | undefined;
}

/** A value to write. */
export interface Entry {
  readonly key: string;
  /** May be empty: index entries say everything in their key. */
  readonly value: Uint8Array;
}

/** Deletes apply before puts; of two puts of one key the later holds. */
export interface Change {
  readonly expect?: readonly Expectation[];
  readonly put?: readonly Entry[];
  /** Deleting what is not there succeeds. */
  readonly delete?: readonly string[];
  /** Keys that other processes cache: their `changes` listeners are called. Most writes notify nobody. */
  readonly notify?: readonly string[];
}

/** Ends a subscription. Repeating it does nothing. */
export type Unsubscribe = () => void;

/** Stands for every key there is: any of them may have changed, or be gone. */
export const EVERYTHING: unique symbol = Symbol('every key may have changed');

/** The keys that another process changed, or EVERYTHING if they are unknown. */
export type ChangedKeys = readonly string[] | typeof EVERYTHING;

/** All entries of a store, as they were at one moment. */
export interface StoreCopy {
  /** How many entries it has. */
  readonly entries: number;
  /** Bytes that `read` yields in total. */
  readonly bytes: number;
  /** The entries in the order of their keys, as `encodeEntries` writes them. Called once. @throws StorageFailure */
  read(): AsyncIterable<Uint8Array>;
  /** Releases what the copy holds, and ends a reading under way. Idempotent. */
  close(): Promise<void>;
}

/** Entries that are to take the place of everything in a store. Nobody reads them before `install`. */
export interface Replacement {
  /** Adds entries. Each key comes once; ascending keys are fastest. @throws StorageFailure */
  put(entries: readonly Entry[]): Promise<void>;
  /**
   * Takes the place of the store in one step: a process that dies meanwhile leaves the old store or the new one, whole. Resolves once it is durable. The
   * listeners of all other drivers hear EVERYTHING. A commit of any driver happens before it, or is rejected as transient. No version is used again.
   * @throws StorageFailure where the store is as it was
   */
  install(): Promise<void>;
  /** Gives the entries up; does nothing once they are installed. Idempotent. */
  discard(): Promise<void>;
}

/** How far behind a driver may be in reading change notifications. */
export interface Staleness {
  /** Since a moment whose notifications have all been read, in milliseconds; 0 where no other process writes. */
  readonly millis: number;
  /** Why they could not be read since, in plain words; undefined where no reading has failed. Holds no password or connection URL. */
  readonly reason?: string | undefined;
}

/** How full a store is that has a limit of its own. */
export interface Capacity {
  readonly usedBytes: number;
  readonly limitBytes: number;
  /** Names of alarms that the store has raised: while there is one, it may refuse writes. */
  readonly alarms: readonly string[];
}

/** What a driver tells the operator beside its answers. The log of a server is one. */
export interface StorageLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** A store of ordered keys. One driver instance belongs to one process; several processes may share what is behind it. */
export interface StorageDriver {
  /** Shown to operators as `storage_type`: `inmem`, `lmdb`, `postgresql`, `etcd`. */
  readonly name: string;
  /**
   * Where the code is that runs for the driver: names of packages, and folders as `file:` URLs. A fault there is the server's own, though a plugin
   * uses the same library.
   */
  readonly code?: readonly string[];
  /** True when other processes may write to the same store while this one runs. */
  readonly shared: boolean;
  /** The value is the caller's to keep. A key that no store can hold is simply absent. */
  get(key: string): Promise<Stored | undefined>;
  /**
   * As `get`, at once; LATER where that would block, and `get` has to be asked. `known`: a version of which the caller has the value; the driver may answer
   * UNCHANGED where that is what the store has, which saves copying the value. Absent: the driver never answers at once.
   */
  getSync?(key: string, known?: number): Stored | undefined | typeof LATER | typeof UNCHANGED;
  /** One consistent state of the store. */
  range(query: RangeQuery): Promise<StoredEntry[]>;
  /**
   * Applies all of the change or nothing, and resolves once it is durable. Concurrent commits share one flush.
   * Reads that begin after it has resolved see it. The values must not be changed before it settles. It resolves with the version of all that it
   * put, where the driver knows it; callers may then keep what they wrote instead of reading it.
   * @throws Conflict when an expectation does not hold; nothing has been written then.
   * @throws StorageFailure when the store cannot write (a full disk, a lost connection) or a key is empty, longer than
   *   MAX_KEY_BYTES, holds U+0000 or is not well-formed Unicode. With `transient` nothing has been written, and the same may succeed
   *   later. After a lost connection the driver finds out whether the commit happened; where it cannot, the failure's reason says so.
   */
  commit(change: Change): Promise<number | void>;
  /**
   * Calls back with the keys that other processes changed, after their commit; never with this process's own. Calls back with EVERYTHING
   * when notifications may have been missed, or when the store went back to an earlier state (a failover that lost its newest commits): then
   * every copy is to be dropped. That call is made before any read that begins later is answered from the new state. A commit that began
   * before it is rejected, as transient, where it would be applied after it. A listener must not throw.
   */
  changes(listener: (changed: ChangedKeys) => void): Unsubscribe;
  /** How old the copies may be that are kept by `changes`. Costs next to nothing: asked at each request. */
  staleness(): Staleness;
  /** How full the store is, as it was known a moment ago. Absent or undefined: it has no limit of its own, or none is known. */
  capacity?(): Capacity | undefined;
  /**
   * A consistent copy of the store, taken while others read and write it. Absent: the driver cannot, and no snapshot can be taken of the store.
   * @throws StorageFailure, with `full` where there is no room for the copy
   */
  copy?(): Promise<StoreCopy>;
  /**
   * Begins to write what is to take the place of the store. Absent: the driver cannot, and no snapshot can be restored into the store.
   * @throws StorageFailure
   */
  replace?(): Promise<Replacement>;
  /** Waits for commits under way. Idempotent; later calls of the others reject with (`changes` throws) StorageClosed. */
  close(): Promise<void>;
}
