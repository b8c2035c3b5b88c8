import type { Static, TObject, TSchema } from 'typebox';
import type { IntentKind, OpenIntent } from './intent-kind.ts';
import type { AccountManager, ManagedAccount } from './managed-account.ts';
import type { Report } from './report.ts';
import type { JobStatus, JobTry, ScheduleKind } from './schedule-kind.ts';

/** A page of names, in the order of their bytes. */
export interface ListQuery {
  /** Only ids with this prefix. */
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
   * The engine keeps copies of these records in memory. When a record changes, other processes are notified and call `invalidate` of the engine.
   * Omit it for records that are read at each use.
   */
  readonly cached?: boolean;
}

/** Records of one schema below one prefix of the mount's storage. An id is any text without NUL, of at most about 1,000 bytes. */
export interface Collection<T> {
  /** Undefined if there is no record. @throws if the record cannot be decrypted or does not match its schema. */
  get(id: string): Promise<T | undefined>;
  /** Creates or replaces the record. */
  put(id: string, record: T): Promise<void>;
  /** Succeeds if there is no record, because revocations are retried and must converge. */
  delete(id: string): Promise<void>;
  has(id: string): Promise<boolean>;
  /** Ids in byte order. */
  list(query?: ListQuery): Promise<string[]>;
  /** One level of a collection with ids like paths, as clients list it: members, and folders that end in '/'. */
  listFolder(query?: FolderQuery): Promise<string[]>;
  entries(query?: ListQuery): Promise<[id: string, record: T][]>;
}

/** This mount's part of the store. Everything in it is encrypted. */
export interface StorageView {
  collection<S extends TSchema>(prefix: string, schema: S, options?: CollectionOptions): Collection<Static<S>>;
  /**
   * Checks the reads and applies the writes at the end, all or nothing. After a conflict `work` runs again, so it must not touch anything outside
   * storage.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** The state of a scheduled job, for the status of a role. */
  jobStatus(job: Pick<ScheduleKind, 'kind'>, id: string): Promise<JobStatus | undefined>;
  /** The manager of the account, among all mounts; undefined if there is none. */
  managerOf(account: ManagedAccount): Promise<AccountManager | undefined>;
}

/** The storage of a mount within one transaction: everything in it is committed together or not at all. */
export interface Transaction extends Omit<StorageView, 'transaction'> {
  /** Stores the intent with the other writes of this transaction. It is rolled back later unless it is settled. */
  intend<E extends TObject>(intent: IntentKind<E>, entry: Static<E>): Promise<OpenIntent>;
  /** Removes the intent: the outside change is complete, and this transaction stores its result. */
  settle(intent: OpenIntent): Promise<void>;
  /** Rolls the intent back as soon as possible instead of after its age: the outside change certainly failed. */
  abandon(intent: OpenIntent): Promise<void>;
  /**
   * Makes the job due at `at`. Replaces the job with the same id and clears its failures. `tried`: its work was tried outside of a run of the job, as by a
   * request; a failed try makes it a failing job. The tries of the job before are kept.
   */
  schedule<E extends TObject>(job: ScheduleKind<E>, id: string, at: Date, entry: Static<E>, tried?: JobTry): Promise<void>;
  unschedule(job: Pick<ScheduleKind, 'kind'>, id: string): Promise<void>;
  /**
   * Makes `by` of this mount the only manager of the account. Idempotent. `adopt` takes the account over from its current manager, which learns from
   * `managerOf` that it no longer manages the account, and then does not change the credential.
   * @throws BadRequest that names the other manager and `adopt`
   */
  manage(account: ManagedAccount, by: string, options?: { readonly adopt?: boolean }): Promise<void>;
  /** Ends the management of the account by `by` of this mount, if there is one. When a mount is removed, this happens for all its accounts. */
  release(account: ManagedAccount, by: string): Promise<void>;
  /**
   * Reports that this transaction changes a secret that the engine offers as a source. Subscribers process the change in the same transaction. Call it
   * after the change is written.
   */
  notifySubscribers(secret: string): Promise<void>;
  /** Reports what this transaction does. Counted, and sent to those who follow events, once it is committed; a transaction may only report. */
  report(report: Report): void;
}
