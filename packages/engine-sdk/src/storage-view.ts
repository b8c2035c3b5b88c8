import type { Static, TObject, TSchema } from 'typebox';
import type { IntentKind, OpenIntent } from './intent-kind.ts';
import type { AccountManager, ManagedAccount } from './managed-account.ts';
import type { JobStatus, ScheduleKind } from './schedule-kind.ts';

/** A page of names, in the order of their bytes. */
export interface ListQuery {
  /** Only ids that begin so. */
  readonly prefix?: string;
  /** Only ids after this one, in byte order. */
  readonly after?: string;
  readonly limit?: number;
}

/** A page of the folders of a collection. */
export interface FolderQuery extends ListQuery {
  /** The folder whose direct members are listed: '' or a path that ends in '/'. */
  readonly folder?: string;
}

/** How a collection is read. */
export interface CollectionOptions {
  /**
   * The engine keeps copies of these records in memory, so other processes are told when one changes
   * and call the engine's `invalidate`. Leave it out for records that are read at each use.
   */
  readonly cached?: boolean;
}

/** Records of one schema below one prefix of the mount's storage. An id is any text without NUL, at most about 1,000 bytes. */
export interface Collection<T> {
  /** Absent gives undefined. @throws when the stored record cannot be decrypted or no longer fits its schema. */
  get(id: string): Promise<T | undefined>;
  /** Creates or replaces. */
  put(id: string, record: T): Promise<void>;
  /** Removing what is not there succeeds: revocation is retried and must converge. */
  delete(id: string): Promise<void>;
  has(id: string): Promise<boolean>;
  /** Ids in byte order. */
  list(query?: ListQuery): Promise<string[]>;
  /** One level of a path-like collection, as clients list it: members, and folders with a closing '/'. */
  listFolder(query?: FolderQuery): Promise<string[]>;
  entries(query?: ListQuery): Promise<[id: string, record: T][]>;
}

/** This mount's part of the store; everything in it is encrypted. */
export interface StorageView {
  collection<S extends TSchema>(prefix: string, schema: S, options?: CollectionOptions): Collection<Static<S>>;
  /**
   * Reads are checked and writes applied at the end, all or nothing. `work` is run again on a conflict,
   * so it touches nothing outside storage.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Where a scheduled job stands: for the status block of a role. */
  jobStatus(job: Pick<ScheduleKind, 'kind'>, id: string): Promise<JobStatus | undefined>;
  /** Who manages the account, of all mounts; undefined where nobody does. */
  managerOf(account: ManagedAccount): Promise<AccountManager | undefined>;
}

/** The storage of a mount within one transaction: everything in it is committed together or not at all. */
export interface Transaction extends Omit<StorageView, 'transaction'> {
  /** Stored with the other writes of this transaction; rolled back later unless settled. */
  intend<E extends TObject>(intent: IntentKind<E>, entry: Static<E>): Promise<OpenIntent>;
  /** The outside change is complete and its result is stored by this transaction. */
  settle(intent: OpenIntent): Promise<void>;
  /** The outside change failed for certain: roll back as soon as possible instead of after the intent's age. */
  abandon(intent: OpenIntent): Promise<void>;
  /** Due at `at`; replaces the job of the same id and clears its failures. */
  schedule<E extends TObject>(job: ScheduleKind<E>, id: string, at: Date, entry: Static<E>): Promise<void>;
  unschedule(job: Pick<ScheduleKind, 'kind'>, id: string): Promise<void>;
  /**
   * Makes `by` of this mount the one manager of the account. Saying it again changes nothing. `adopt` takes the account over from whoever manages it
   * now; that one finds in `managerOf` that it is no longer meant, and leaves the account's credential as it is.
   * @throws BadRequest that names the other manager and `adopt`
   */
  manage(account: ManagedAccount, by: string, options?: { readonly adopt?: boolean }): Promise<void>;
  /** `by` of this mount no longer manages the account. Where it does not, nothing happens. Ends by itself for all accounts of a mount that is removed. */
  release(account: ManagedAccount, by: string): Promise<void>;
  /**
   * A secret that this engine offers as a source changes with this transaction. Subscribers process it in the same transaction. Said after the
   * change is written.
   */
  notifySubscribers(secret: string): Promise<void>;
}
