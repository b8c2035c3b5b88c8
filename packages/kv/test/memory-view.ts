import { checkRecord, type Collection, type FolderQuery, type ListQuery, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import type { TSchema } from 'typebox';

const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Stored {
  readonly json: string;
  readonly version: number;
}

/** Two of these over one store are two processes. Every call takes a turn of the event loop, so that calls at once interleave. */
export class MemoryStore {
  readonly records = new Map<string, Stored>();
  readonly jobs = new Set<string>();
  version = 0;

  /** All that is stored, as text. */
  dump(): string {
    return [...this.records].map(([key, { json }]) => `${key} ${json}`).join('\n');
  }
}

/** A mount's storage in memory that counts calls, and fails on request. */
export class MemoryView implements StorageView {
  readonly store: MemoryStore;
  reads = 0;
  commits = 0;
  conflicts = 0;
  /** Commits that still succeed; the ones after it fail before they write. */
  commitsLeft = Infinity;

  constructor(store = new MemoryStore()) {
    this.store = store;
  }

  collection<S extends TSchema>(prefix: string, schema: S): Collection<never> {
    return new MemoryCollection(this, undefined, prefix, schema) as unknown as Collection<never>;
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (;;) {
      const tx = new MemoryTransaction(this);
      const result = await work(tx as unknown as Transaction);
      await turn();
      if (tx.written.size === 0) return result;
      if ([...tx.seen].some(([key, version]) => this.store.records.get(key)?.version !== version)) {
        this.conflicts += 1;
        continue;
      }
      if (this.commitsLeft <= 0) throw new Error('the store is gone');
      this.commitsLeft -= 1;
      this.commits += 1;
      for (const [key, json] of tx.written) {
        if (json === undefined) this.store.records.delete(key);
        else this.store.records.set(key, { json, version: (this.store.version += 1) });
      }
      for (const change of tx.jobs) change();
      return result;
    }
  }

  managerOf(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async jobStatus(): Promise<undefined> {
    return undefined;
  }
}

class MemoryTransaction {
  readonly view: MemoryView;
  readonly seen = new Map<string, number | undefined>();
  readonly written = new Map<string, string | undefined>();
  readonly jobs: (() => void)[] = [];

  constructor(view: MemoryView) {
    this.view = view;
  }

  collection<S extends TSchema>(prefix: string, schema: S): Collection<never> {
    return new MemoryCollection(this.view, this, prefix, schema) as unknown as Collection<never>;
  }

  async notifySubscribers(): Promise<void> {}

  async schedule(_job: unknown, id: string): Promise<void> {
    this.jobs.push(() => this.view.store.jobs.add(id));
  }

  async unschedule(_job: unknown, id: string): Promise<void> {
    this.jobs.push(() => this.view.store.jobs.delete(id));
  }
}

class MemoryCollection implements Collection<unknown> {
  readonly #view: MemoryView;
  readonly #tx: MemoryTransaction | undefined;
  readonly #prefix: string;
  readonly #schema: TSchema;

  constructor(view: MemoryView, tx: MemoryTransaction | undefined, prefix: string, schema: TSchema) {
    this.#view = view;
    this.#tx = tx;
    this.#prefix = prefix;
    this.#schema = schema;
  }

  async get(id: string): Promise<unknown> {
    const key = this.#prefix + id;
    if (this.#tx?.written.has(key)) return parsed(this.#tx.written.get(key));
    await turn();
    this.#view.reads += 1;
    const stored = this.#view.store.records.get(key);
    // The first look counts: a transaction that saw two states must not commit.
    if (this.#tx && !this.#tx.seen.has(key)) this.#tx.seen.set(key, stored?.version);
    return stored && checkRecord(this.#schema, parsed(stored.json), key);
  }

  async has(id: string): Promise<boolean> {
    return (await this.get(id)) !== undefined;
  }

  async put(id: string, record: unknown): Promise<void> {
    const json = JSON.stringify(checkRecord(this.#schema, record, this.#prefix + id));
    await this.#write(id, json);
  }

  async delete(id: string): Promise<void> {
    await this.#write(id, undefined);
  }

  async list(query: ListQuery = {}): Promise<string[]> {
    await turn();
    return [...this.#view.store.records.keys()]
      .filter((key) => key.startsWith(this.#prefix + (query.prefix ?? '')))
      .map((key) => key.slice(this.#prefix.length))
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .filter((id) => query.after === undefined || id > query.after)
      .slice(0, query.limit);
  }

  async listFolder({ folder = '', after, limit }: FolderQuery = {}): Promise<string[]> {
    const ids = (await this.list({ prefix: folder })).map((id) => id.slice(folder.length));
    const members = [...new Set(ids.map((id) => (id.includes('/') ? id.slice(0, id.indexOf('/') + 1) : id)))];
    return members.filter((member) => after === undefined || member > after).slice(0, limit);
  }

  async entries(): Promise<[string, unknown][]> {
    return Promise.reject(new Error('not needed here'));
  }

  async #write(id: string, json: string | undefined): Promise<void> {
    const key = this.#prefix + id;
    if (this.#tx) this.#tx.written.set(key, json);
    else await this.#view.transaction(async (tx) => void (tx as unknown as MemoryTransaction).written.set(key, json));
  }
}

function parsed(json: string | undefined): unknown {
  return json === undefined ? undefined : (JSON.parse(json) as unknown);
}
