/** An expectation of a commit did not hold. Nothing of that commit has been written; read again and retry. */
export class Conflict extends Error {
  override readonly name = 'Conflict';
  /** The first expected key found at another version, or present where it should be absent, or absent. */
  readonly key: string;

  constructor(key: string) {
    super(`storage conflict: ${JSON.stringify(key)} is not at the expected version`);
    this.key = key;
  }
}

/** The store cannot do what was asked: a full disk, a lost connection, a damaged file, a key it cannot hold. */
export class StorageFailure extends Error {
  override readonly name = 'StorageFailure';
  /** The driver's name, as in `StorageDriver.name`. */
  readonly store: string;
  /** Why, in plain words. Holds no value, password or connection URL. */
  readonly reason: string;
  /** Nothing has been written, and the same may succeed a little later. */
  readonly transient: boolean;
  /** There is no room for what was to be written. */
  readonly full: boolean;
  /** What was to be written is larger than the store takes at once. */
  readonly tooLarge: boolean;

  constructor(
    store: string,
    reason: string,
    options: { readonly transient?: boolean; readonly full?: boolean; readonly tooLarge?: boolean } = {},
  ) {
    super(`storage ${store}: ${reason}`);
    this.store = store;
    this.reason = reason;
    this.transient = options.transient ?? false;
    this.full = options.full ?? false;
    this.tooLarge = options.tooLarge ?? false;
  }

  /** What logs show: the message says already that it is of the store. */
  override toString(): string {
    return this.message;
  }
}

/** The driver has been closed. */
export class StorageClosed extends Error {
  override readonly name = 'StorageClosed';
  readonly store: string;

  constructor(store: string) {
    super(`storage ${store} is closed`);
    this.store = store;
  }
}
