import type { Collection, FolderQuery, ListQuery, StorageView, Transaction } from '@strongroom/engine-sdk';
import { checkRecord } from '@strongroom/engine-sdk';
import type { Static, TSchema } from 'typebox';

interface Stored {
  readonly json: string;
  readonly version: number;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * A storage view in memory whose every call takes a turn of the event loop, so that calls under way at once really interleave.
 * Transactions check what they read and run again on a conflict, as the core's do.
 */
export class MemoryView implements StorageView {
  readonly records = new Map<string, Stored>();
  /** Commits that wrote something. */
  commits = 0;
  reads = 0;
  conflicts = 0;
  /** The next commits fail so many times after they were applied: an answer that was lost. */
  loseAnswers = 0;
  /** Called with the notified keys of each commit, as other processes would be. */
  readonly listeners: ((key: string) => void)[] = [];
  #version = 0;

  collection<S extends TSchema>(prefix: string, schema: S): Collection<Static<S>> {
    const direct = (work: (tx: MemoryTransaction) => void): Promise<void> =>
      this.transaction(async (tx) => work(tx as unknown as MemoryTransaction));
    return memoryCollection(prefix, schema, {
      get: async (key) => {
        await turn();
        this.reads += 1;
        return this.records.get(key)?.json;
      },
      keys: async () => {
        await turn();
        return [...this.records.keys()];
      },
      change: direct,
    });
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (;;) {
      const tx = new MemoryTransaction(this);
      const result = await work(tx as unknown as Transaction);
      await turn();
      if (tx.written.size === 0) return result;
      if ([...tx.read].some(([key, version]) => this.records.get(key)?.version !== version)) {
        this.conflicts += 1;
        continue;
      }
      for (const [key, json] of tx.written) {
        if (json === undefined) this.records.delete(key);
        else this.records.set(key, { json, version: (this.#version += 1) });
      }
      this.commits += 1;
      for (const key of tx.notified) for (const listener of this.listeners) listener(key);
      await turn();
      if (this.loseAnswers > 0) {
        this.loseAnswers -= 1;
        throw new Error('the connection to the store was lost');
      }
      return result;
    }
  }

  managerOf(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  jobStatus(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

class MemoryTransaction {
  readonly view: MemoryView;
  readonly read = new Map<string, number | undefined>();
  readonly written = new Map<string, string | undefined>();
  readonly notified = new Set<string>();

  constructor(view: MemoryView) {
    this.view = view;
  }

  collection<S extends TSchema>(prefix: string, schema: S, options?: { cached?: boolean }): Collection<Static<S>> {
    return memoryCollection(
      prefix,
      schema,
      {
        get: async (key) => {
          if (this.written.has(key)) return this.written.get(key);
          await turn();
          const stored = this.view.records.get(key);
          if (!this.read.has(key)) this.read.set(key, stored?.version);
          return stored?.json;
        },
        keys: async () => {
          await turn();
          return [...new Set([...this.view.records.keys(), ...this.written.keys()])].filter(
            (key) => !this.written.has(key) || this.written.get(key) !== undefined,
          );
        },
        change: async (work) => work(this),
      },
      options?.cached === true ? this.notified : undefined,
    );
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
    listFolder: (_query?: FolderQuery) => Promise.reject(new Error('not needed here')),
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
