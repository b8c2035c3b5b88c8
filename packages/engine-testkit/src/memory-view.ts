import type { Collection, FolderQuery, ListQuery, StorageView, Transaction } from '@strongroom/engine-sdk';
import { checkRecord } from '@strongroom/engine-sdk';
import type { Static, TSchema } from 'typebox';

/** A record as it is stored. */
export interface StoredRecord {
  readonly json: string;
  readonly version: number;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What `MemoryView`s read and write. Two views of one store are two processes. */
export class MemoryStore {
  readonly records = new Map<string, StoredRecord>();
  /** The ids of scheduled jobs. */
  readonly jobs = new Set<string>();
  /** Called with the notified keys of each commit, as other processes would be. */
  readonly listeners: ((key: string) => void)[] = [];
  /** Of the newest record. */
  version = 0;

  /** All that is stored, as text. */
  dump(): string {
    return [...this.records].map(([key, { json }]) => `${key} ${json}`).join('\n');
  }
}

/**
 * A storage view in memory, for tests of an engine without a core. Every call takes a turn of the event loop, so that calls under way at once
 * interleave. Transactions check what they read and run again on a conflict, as the core's do. It counts calls, and fails on request.
 */
export class MemoryView implements StorageView {
  readonly store: MemoryStore;
  /** Reads of single records, outside transactions. */
  reads = 0;
  /** Reads of single records in transactions. */
  transactionReads = 0;
  /** Commits that wrote something. */
  commits = 0;
  /** Transactions that ran again. */
  conflicts = 0;
  /** Commits that still succeed; the ones after it fail before they write. */
  commitsLeft = Infinity;
  /** This many of the next commits fail after they were applied: an answer that was lost. */
  loseAnswers = 0;

  constructor(store: MemoryStore = new MemoryStore()) {
    this.store = store;
  }

  /** A collection outside any transaction: each write is one of its own. */
  collection<S extends TSchema>(prefix: string, schema: S): Collection<Static<S>> {
    return memoryCollection(prefix, schema, {
      get: async (key) => {
        await turn();
        this.reads += 1;
        return this.store.records.get(key)?.json;
      },
      keys: async () => {
        await turn();
        return [...this.store.records.keys()];
      },
      change: async (work) => this.transaction(async (tx) => work(tx as unknown as MemoryTransaction)),
    });
  }

  /** Runs `work` until what it read has not changed meanwhile, then applies what it wrote. */
  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const { store } = this;
    for (;;) {
      const tx = new MemoryTransaction(this);
      const result = await work(tx as unknown as Transaction);
      await turn();
      if (tx.written.size === 0) return result;
      if ([...tx.read].some(([key, version]) => store.records.get(key)?.version !== version)) {
        this.conflicts += 1;
        continue;
      }
      if (this.commitsLeft <= 0) throw new Error('the store is gone');
      this.commitsLeft -= 1;
      this.commits += 1;
      for (const [key, json] of tx.written) {
        if (json === undefined) store.records.delete(key);
        else store.records.set(key, { json, version: (store.version += 1) });
      }
      for (const change of tx.jobs) change();
      for (const key of tx.notified) for (const listener of store.listeners) listener(key);
      await turn();
      if (this.loseAnswers > 0) {
        this.loseAnswers -= 1;
        throw new Error('the connection to the store was lost');
      }
      return result;
    }
  }

  /** No account is managed here. */
  managerOf(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** No job runs here. */
  jobStatus(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

class MemoryTransaction {
  readonly view: MemoryView;
  readonly read = new Map<string, number | undefined>();
  readonly written = new Map<string, string | undefined>();
  readonly notified = new Set<string>();
  readonly jobs: (() => void)[] = [];

  constructor(view: MemoryView) {
    this.view = view;
  }

  collection<S extends TSchema>(prefix: string, schema: S, options?: { cached?: boolean }): Collection<Static<S>> {
    const { records } = this.view.store;
    const access: Access = {
      get: async (key) => {
        if (this.written.has(key)) return this.written.get(key);
        await turn();
        this.view.transactionReads += 1;
        const stored = records.get(key);
        // The first look counts: a transaction that saw two states must not commit.
        if (!this.read.has(key)) this.read.set(key, stored?.version);
        return stored?.json;
      },
      keys: async () => {
        await turn();
        return [...new Set([...records.keys(), ...this.written.keys()])].filter(
          (key) => !this.written.has(key) || this.written.get(key) !== undefined,
        );
      },
      change: async (work) => work(this),
    };
    return memoryCollection(prefix, schema, access, options?.cached === true ? this.notified : undefined);
  }

  async notifySubscribers(): Promise<void> {}

  report(): void {}

  async schedule(_job: unknown, id: string): Promise<void> {
    this.jobs.push(() => this.view.store.jobs.add(id));
  }

  async unschedule(_job: unknown, id: string): Promise<void> {
    this.jobs.push(() => this.view.store.jobs.delete(id));
  }
}

interface Access {
  get(key: string): Promise<string | undefined>;
  keys(): Promise<string[]>;
  change(work: (tx: MemoryTransaction) => void): Promise<void>;
}

function memoryCollection<S extends TSchema>(prefix: string, schema: S, access: Access, notified?: Set<string>): Collection<Static<S>> {
  type T = Static<S>;
  const get = async (id: string): Promise<T | undefined> => {
    const json = await access.get(prefix + id);
    return json === undefined ? undefined : checkRecord(schema, JSON.parse(json), prefix + id);
  };
  const list = async (query: ListQuery = {}): Promise<string[]> => {
    const ids = (await access.keys()).filter((key) => key.startsWith(prefix + (query.prefix ?? ''))).map((key) => key.slice(prefix.length));
    return ids
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .filter((id) => query.after === undefined || id > query.after)
      .slice(0, query.limit);
  };
  const write = (id: string, json: string | undefined): Promise<void> => {
    notified?.add(prefix + id);
    return access.change((tx) => tx.written.set(prefix + id, json));
  };
  return {
    get,
    list,
    has: async (id) => (await access.get(prefix + id)) !== undefined,
    put: async (id, record) => write(id, JSON.stringify(checkRecord(schema, record, prefix + id))),
    delete: async (id) => write(id, undefined),
    listFolder: async ({ folder = '', after, limit }: FolderQuery = {}) => {
      const ids = (await list({ prefix: folder })).map((id) => id.slice(folder.length));
      const members = [...new Set(ids.map((id) => (id.includes('/') ? id.slice(0, id.indexOf('/') + 1) : id)))];
      return members.filter((member) => after === undefined || member > after).slice(0, limit);
    },
    entries: async (query) => {
      const found: [string, T][] = [];
      for (const id of await list(query)) {
        const record = await get(id);
        if (record !== undefined) found.push([id, record]);
      }
      return found;
    },
  };
}
