import { traced, type Clock, type Log, type SpanStart, type Tracer } from '@strongroom/engine-sdk';
import {
  StorageFailure,
  type Capacity,
  type ChangedKeys,
  type Replacement,
  type StorageDriver,
  type StoreCopy,
} from '@strongroom/storage-sdk';

const MINUTE = 60_000;

/** Counts the commits that went through, for clients that ask how far the store is, notes whether it takes writes, and shows what the storage does in traces. */
export class CountingDriver implements StorageDriver {
  readonly name: string;
  readonly shared: boolean;
  /** Absent where the driver cannot, and where each read is shown in a trace. */
  readonly getSync?: NonNullable<StorageDriver['getSync']>;
  /** Absent where the driver cannot. */
  readonly copy?: () => Promise<StoreCopy>;
  /** Absent where the driver cannot. */
  readonly replace?: () => Promise<Replacement>;
  commits = 0;
  /** Why the last commit failed, in plain words; undefined where it succeeded, or failed for a reason that is not the store's. */
  writeFailure: string | undefined;
  readonly #driver: StorageDriver;
  readonly #tracer: Tracer | undefined;
  readonly #span: SpanStart;
  readonly #changed: (keys: readonly string[]) => void;
  readonly #log: Log;
  readonly #clock: Clock;
  /** Milliseconds since the epoch: when the log last had that the store takes writes again. */
  #saidAt = -Infinity;

  /** `changed` hears which keys of a commit others keep copies of. */
  constructor(
    driver: StorageDriver,
    {
      tracer,
      changed,
      log,
      clock,
    }: {
      readonly tracer: Tracer | undefined;
      readonly changed: (keys: readonly string[]) => void;
      readonly log: Log;
      readonly clock: Clock;
    },
  ) {
    this.#driver = driver;
    this.#changed = changed;
    this.#log = log;
    this.#clock = clock;
    this.#tracer = tracer;
    this.#span = { kind: 'client', attributes: { 'db.system.name': driver.name } };
    this.name = driver.name;
    this.shared = driver.shared;
    if (driver.getSync && !tracer) this.getSync = (key, known) => driver.getSync!(key, known);
    if (driver.copy) this.copy = async () => driver.copy!();
    if (driver.replace) this.replace = async () => driver.replace!();
  }
  get(key: string): ReturnType<StorageDriver['get']> {
    return this.#tracer ? traced(this.#tracer, 'storage get', () => this.#driver.get(key), this.#span) : this.#driver.get(key);
  }
  range(query: Parameters<StorageDriver['range']>[0]): ReturnType<StorageDriver['range']> {
    return this.#tracer ? traced(this.#tracer, 'storage list', () => this.#driver.range(query), this.#span) : this.#driver.range(query);
  }
  commit(change: Parameters<StorageDriver['commit']>[0]): ReturnType<StorageDriver['commit']> {
    this.commits += 1;
    const committed = this.#tracer
      ? traced(this.#tracer, 'storage commit', () => this.#driver.commit(change), this.#span)
      : this.#driver.commit(change);
    return committed.then(
      (version) => {
        if (this.writeFailure !== undefined) this.#recovered();
        if (change.notify?.length) this.#changed(change.notify);
        return version;
      },
      (error: unknown) => {
        if (error instanceof StorageFailure && !error.transient && !error.tooLarge) this.writeFailure = error.message;
        throw error;
      },
    );
  }
  /** On a full disk small writes succeed between others that fail: the log has one line a minute at most, as it has of the failures. */
  #recovered(): void {
    this.writeFailure = undefined;
    const now = this.#clock.millis();
    if (now - this.#saidAt < MINUTE) return;
    this.#saidAt = now;
    this.#log.info('the store takes writes again', { storage: this.name });
  }
  changes(listener: (changed: ChangedKeys) => void): () => void {
    return this.#driver.changes(listener);
  }
  staleness(): ReturnType<StorageDriver['staleness']> {
    return this.#driver.staleness();
  }
  capacity(): Capacity | undefined {
    return this.#driver.capacity?.();
  }
  close(): Promise<void> {
    return this.#driver.close();
  }
}
