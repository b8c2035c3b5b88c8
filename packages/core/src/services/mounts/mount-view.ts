import {
  checkRecord,
  type AccountManager,
  type Collection,
  type CollectionOptions,
  type FolderQuery,
  type IntentKind,
  type JobStatus,
  type JobTry,
  type ListQuery,
  type ManagedAccount,
  type OpenIntent,
  type Report,
  type StorageView,
  type ScheduleKind,
  type Transaction,
} from '@strongroom/engine-sdk';
import type { Static, TObject, TSchema } from 'typebox';
import type { Events } from '../events/events.ts';
import type { AccountRegistry } from '../accounts/account-registry.ts';
import type { Journal } from '../journal/journal.ts';
import type { MountWatchers } from './mount-watchers.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { MountStorage } from '../../kernel/mounts/mount-storage.ts';
import type { MaybePromise } from '../../kernel/storage/maybe-promise.ts';
import { copyOf } from '../../kernel/storage/copy-of.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';

/** Where a mount's records, intents and jobs live. */
export interface MountScope {
  readonly store: Store;
  readonly journal: Journal;
  readonly jobs: Jobs;
  readonly watchers: MountWatchers;
  readonly accounts: AccountRegistry;
  readonly events: Events;
  /** The mount's uuid: intents and jobs are filed below it. */
  readonly uuid: string;
  /** The key prefix of its records, with a closing slash. */
  readonly prefix: string;
}

/** Throws where the view is closed. */
type Guard = () => void;

/** The mount's own part of the encrypted store, as engines see it. */
export class MountView implements MountStorage {
  readonly #scope: MountScope;
  #closed: Error | undefined;
  #access: Access | undefined;

  constructor(scope: MountScope) {
    this.#scope = scope;
  }

  close(reason: Error): void {
    this.#closed ??= reason;
  }

  readonly #guard: Guard = () => {
    if (this.#closed) throw this.#closed;
  };

  collection<S extends TSchema>(prefix: string, schema: S, options?: CollectionOptions): Collection<Static<S>> {
    const { store } = this.#scope;
    this.#access ??= new StoreAccess(store);
    return new StoredCollection(store, this.#access, this.#guard, this.#scope.prefix + prefix, schema, options?.cached === true);
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>, request?: string): Promise<T> {
    return this.#scope.store.transaction(async (tx) => {
      this.#guard();
      const done = await work(new MountTransaction(this.#scope, tx, this.#guard, request));
      // What follows is the commit: the view may have been closed while the engine was at work.
      this.#guard();
      return done;
    });
  }

  ofRequest(id: string): StorageView {
    return new RequestView(this, id);
  }

  within(tx: StoreTransaction): Transaction {
    return new MountTransaction(this.#scope, tx, this.#guard);
  }

  async jobStatus(job: ScheduleKind, id: string): Promise<JobStatus | undefined> {
    this.#guard();
    return this.#scope.jobs.status(this.#scope.uuid, job.kind, id);
  }

  async managerOf(account: ManagedAccount): Promise<AccountManager | undefined> {
    this.#guard();
    return this.#scope.accounts.managerOf(this.#scope.store, this.#scope.uuid, account);
  }
}

class RequestView implements StorageView {
  readonly #view: MountView;
  readonly #request: string;

  constructor(view: MountView, request: string) {
    this.#view = view;
    this.#request = request;
  }

  collection<S extends TSchema>(prefix: string, schema: S, options?: CollectionOptions): Collection<Static<S>> {
    return this.#view.collection(prefix, schema, options);
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#view.transaction(work, this.#request);
  }

  jobStatus(job: ScheduleKind, id: string): Promise<JobStatus | undefined> {
    return this.#view.jobStatus(job, id);
  }

  managerOf(account: ManagedAccount): Promise<AccountManager | undefined> {
    return this.#view.managerOf(account);
  }
}

class MountTransaction implements Transaction {
  readonly #scope: MountScope;
  readonly #tx: StoreTransaction;
  readonly #guard: Guard;
  readonly #request: string | undefined;

  constructor(scope: MountScope, tx: StoreTransaction, guard: Guard, request?: string) {
    this.#request = request;
    this.#scope = scope;
    this.#tx = tx;
    this.#guard = guard;
  }

  collection<S extends TSchema>(prefix: string, schema: S, options?: CollectionOptions): Collection<Static<S>> {
    return new StoredCollection(this.#scope.store, this.#tx, this.#guard, this.#scope.prefix + prefix, schema, options?.cached === true);
  }

  async jobStatus(job: ScheduleKind, id: string): Promise<JobStatus | undefined> {
    return this.#scope.jobs.status(this.#scope.uuid, job.kind, id);
  }

  async intend<E extends TObject>(intent: IntentKind<E>, entry: Static<E>): Promise<OpenIntent> {
    return this.#scope.journal.open(this.#tx, this.#scope.uuid, intent, entry as Record<string, unknown>);
  }

  async settle(intent: OpenIntent): Promise<void> {
    await this.#scope.journal.settle(this.#tx, intent);
  }

  async abandon(intent: OpenIntent): Promise<void> {
    await this.#scope.journal.abandon(this.#tx, intent);
  }

  async schedule<E extends TObject>(job: ScheduleKind<E>, id: string, at: Date, entry: Static<E>, tried?: JobTry): Promise<void> {
    checkRecord(job.entry, entry, `the entry of job ${job.kind}`);
    const key = { mount: this.#scope.uuid, kind: job.kind, id };
    await this.#scope.jobs.schedule(this.#tx, key, at, entry as Record<string, unknown>, tried);
  }

  async unschedule(job: ScheduleKind, id: string): Promise<void> {
    await this.#scope.jobs.unschedule(this.#tx, this.#scope.uuid, job.kind, id);
  }

  async managerOf(account: ManagedAccount): Promise<AccountManager | undefined> {
    return this.#scope.accounts.managerOf(this.#tx, this.#scope.uuid, account);
  }

  async manage(account: ManagedAccount, by: string, options: { adopt?: boolean } = {}): Promise<void> {
    await this.#scope.accounts.manage(this.#tx, this.#scope.uuid, { account, by, adopt: options.adopt === true });
  }

  async release(account: ManagedAccount, by: string): Promise<void> {
    await this.#scope.accounts.release(this.#tx, this.#scope.uuid, account, by);
  }

  async notifySubscribers(secret: string): Promise<void> {
    await this.#scope.watchers.changed(this.#tx, this.#scope.uuid, secret);
  }

  report({ kind, paths, name, version, request = this.#request }: Report): void {
    const { events, uuid } = this.#scope;
    const rest = { ...(version === undefined ? {} : { version }), ...(request === undefined ? {} : { request }) };
    events.within(this.#tx, { kind, mount: uuid, paths: [...paths], name, ...rest });
  }
}

interface Range {
  readonly prefix: string;
  readonly after?: string;
  readonly limit?: number;
}

/** What a collection reads and writes by: a transaction, which sees its own writes, or the store. */
interface Access {
  lookUp(key: string): MaybePromise<unknown>;
  keys(query: Range): Promise<string[]>;
  putCopy(key: string, record: unknown, notify: boolean): MaybePromise<void>;
  delete(key: string, notify: boolean): MaybePromise<void>;
  /** Absent from a transaction, which reads them one by one: a commit depends on each. */
  entries?(query: Range): Promise<[key: string, record: unknown][]>;
}

/** Each change is a transaction of its own. */
class StoreAccess implements Access {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  lookUp(key: string): MaybePromise<unknown> {
    return this.#store.lookUp(key);
  }

  keys(query: Range): Promise<string[]> {
    return this.#store.keys(query);
  }

  entries(query: Range): Promise<[key: string, record: unknown][]> {
    return this.#store.entries<unknown>(query);
  }

  putCopy(key: string, record: unknown, notify: boolean): Promise<void> {
    return this.#store.transaction(async (tx) => tx.putCopy(key, record, notify));
  }

  delete(key: string, notify: boolean): Promise<void> {
    return this.#store.transaction(async (tx) => tx.delete(key, notify));
  }
}

class StoredCollection<T> implements Collection<T> {
  readonly #folders: Pick<Store, 'folder'>;
  readonly #access: Access;
  readonly #guard: Guard;
  readonly #prefix: string;
  readonly #schema: TSchema;
  readonly #notifying: boolean;

  constructor(folders: Pick<Store, 'folder'>, access: Access, guard: Guard, prefix: string, schema: TSchema, notifying: boolean) {
    this.#folders = folders;
    this.#access = access;
    this.#guard = guard;
    this.#prefix = prefix;
    this.#schema = schema;
    this.#notifying = notifying;
  }

  async get(id: string): Promise<T | undefined> {
    const key = this.#prefix + id;
    this.#guard();
    const found = this.#access.lookUp(key);
    const record = found instanceof Promise ? ((await found) as unknown) : found;
    // A copy: the decoded record may be shared with others, and an engine may do with its own what it likes.
    return record === undefined ? undefined : copyOf(checkRecord(this.#schema, record, key) as T);
  }

  async has(id: string): Promise<boolean> {
    this.#guard();
    const found = this.#access.lookUp(this.#prefix + id);
    return (found instanceof Promise ? await found : found) !== undefined;
  }

  async put(id: string, record: T): Promise<void> {
    this.#guard();
    const key = this.#prefix + id;
    const checked: unknown = checkRecord(this.#schema, record, key);
    // What is stored must not change with the caller's object afterwards.
    const put = this.#access.putCopy(key, checked, this.#notifying);
    if (put) await put;
  }

  async delete(id: string): Promise<void> {
    this.#guard();
    const deleted = this.#access.delete(this.#prefix + id, this.#notifying);
    if (deleted) await deleted;
  }

  async list(query: ListQuery = {}): Promise<string[]> {
    this.#guard();
    const keys = await this.#access.keys(this.#range(query));
    return keys.map((key) => key.slice(this.#prefix.length));
  }

  async listFolder(query: FolderQuery = {}): Promise<string[]> {
    this.#guard();
    const { folder = '', ...rest } = query;
    return this.#folders.folder(this.#prefix + folder, rest);
  }

  async entries(query: ListQuery = {}): Promise<[id: string, record: T][]> {
    this.#guard();
    const entries = await this.#access.entries?.(this.#range(query));
    if (!entries) {
      const found: [string, T][] = [];
      for (const id of await this.list(query)) {
        const record = await this.get(id);
        if (record !== undefined) found.push([id, record]);
      }
      return found;
    }
    return entries.map(([key, record]) => [key.slice(this.#prefix.length), checkRecord(this.#schema, record, key) as T]);
  }

  #range(query: ListQuery): Range {
    return {
      prefix: this.#prefix + (query.prefix ?? ''),
      ...(query.after === undefined ? {} : { after: this.#prefix + query.after }),
      ...(query.limit === undefined ? {} : { limit: query.limit }),
    };
  }
}
