import { randomUUID } from 'node:crypto';
import { checkKeys, keyProblem, Lifetime } from '@strongroom/storage-sdk';
import type {
  Capacity,
  ChangedKeys,
  Change,
  RangeQuery,
  Replacement,
  Staleness,
  StorageDriver,
  StorageLog,
  StoreCopy,
  Stored,
  StoredEntry,
  Unsubscribe,
} from '@strongroom/storage-sdk';
import { boundsOf } from './bounds.ts';
import { QuotaWatch } from './capacity.ts';
import { ChangeNotifications } from './change-notifications.ts';
import { Cluster } from './cluster.ts';
import { asFailure, isCompacted, NAME } from './failure.ts';
import { encodeState, History } from './history.ts';
import { Housekeeping } from './housekeeping.ts';
import { Committer } from './committer.ts';
import { Layout } from './layout.ts';
import { learnLimits, type Limits } from './limits.ts';
import { newGeneration, NewGeneration } from './new-generation.ts';
import { prefixOf, type EtcdOptions } from './options.ts';
import { pagesAt } from './pages.ts';
import { Reader } from './reader.ts';
import { Session } from './session.ts';
import { RevisionCopy } from './store-copy.ts';
import { remove } from './wire.ts';
import { Writer } from './writer.ts';

const REQUEST_MS = 5_000;
const COMMITTERS = 4;
const EMPTY = new Uint8Array(0);
const silent: StorageLog = { info: () => undefined, warn: () => undefined };

type ChangeListener = (changed: ChangedKeys) => void;

/**
 * Storage in an etcd cluster, for any number of nodes. Creates the store when there is none.
 * @throws StorageFailure when etcd cannot be reached or refuses, takes too little in a request, or for options that cannot be used
 */
export async function etcdStorage(options: EtcdOptions): Promise<StorageDriver> {
  const log = options.log ?? silent;
  const layout = new Layout(prefixOf(options));
  const listeners = new Set<ChangeListener>();
  const tell = (changed: ChangedKeys): void => {
    for (const listener of [...listeners]) listener(changed);
  };
  const cluster = new Cluster(options);
  const history = new History(log, tell);
  const patienceMs = options.requestTimeoutMs ?? REQUEST_MS;
  const session = new Session({ cluster, history, layout, patienceMs, log });
  try {
    await session.open((id) => encodeState({ generation: newGeneration(), history: 1, offset: 0, cluster: id }));
    const limits = await learnLimits(session, layout, options.allowSmallLimits ?? false, log);
    const driver = new EtcdStorage({ session, layout, limits, listeners, tell, options, log });
    await driver.start();
    return driver;
  } catch (error) {
    cluster.close();
    throw asFailure(error);
  }
}

interface Parts {
  readonly session: Session;
  readonly layout: Layout;
  readonly limits: Limits;
  readonly listeners: Set<ChangeListener>;
  readonly tell: ChangeListener;
  readonly options: EtcdOptions;
  readonly log: StorageLog;
}

class EtcdStorage implements StorageDriver {
  readonly name = NAME;
  readonly code = [new URL('.', import.meta.url).href, '@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs'];
  readonly shared = true;
  readonly #session: Session;
  readonly #layout: Layout;
  readonly #limits: Limits;
  readonly #listeners: Set<ChangeListener>;
  readonly #reader: Reader;
  readonly #writer: Writer;
  readonly #committers: readonly Committer[];
  readonly #notifications: ChangeNotifications;
  readonly #housekeeping: Housekeeping;
  readonly #quota: QuotaWatch;
  readonly #lifetime = new Lifetime(NAME, async () => this.#close());

  constructor({ session, layout, limits, listeners, tell, options, log }: Parts) {
    const origin = randomUUID();
    this.#session = session;
    this.#layout = layout;
    this.#limits = limits;
    this.#listeners = listeners;
    this.#committers = Array.from({ length: COMMITTERS }, (_, i) => new Committer(session, layout, origin, String(i)));
    this.#reader = new Reader(session, layout);
    this.#writer = new Writer(this.#committers, session.history, limits.ops);
    this.#quota = new QuotaWatch(options.quotaBytes, log);
    const looked = this.#quota.take.bind(this.#quota);
    this.#notifications = new ChangeNotifications({ session, origin, heard: tell, looked, log, clock: options.reading });
    const compacts = options.compaction !== 'server';
    this.#housekeeping = new Housekeeping({ session, layout, compacts, touch: () => this.#writer.touch(), log });
  }

  /** @throws StorageFailure, and what gRPC throws */
  async start(): Promise<void> {
    await this.#notifications.start();
    this.#housekeeping.start();
  }

  async get(key: string): Promise<Stored | undefined> {
    this.#lifetime.assertOpen();
    return keyProblem(key) === undefined ? this.#reader.get(key) : undefined;
  }

  async range(query: RangeQuery): Promise<StoredEntry[]> {
    this.#lifetime.assertOpen();
    if ((query.limit ?? 1) <= 0) return [];
    const { history } = this.#session;
    for (;;) {
      const { epoch } = history;
      try {
        const found = await this.#rangeOnce(query);
        if (epoch === history.epoch) return found;
      } catch (error) {
        // Pages are of one revision. Where that was compacted meanwhile, or the store replaced, the next attempt is of a newer one.
        if (!isCompacted(error) && epoch === history.epoch) throw asFailure(error);
      }
    }
  }

  async #rangeOnce(query: RangeQuery): Promise<StoredEntry[]> {
    const { history } = this.#session;
    const all = this.#layout.generation(history.state.generation);
    const bounds = boundsOf(query, all);
    const entries: StoredEntry[] = [];
    if (!bounds) return entries;
    const limit = query.limit === undefined ? undefined : Math.ceil(query.limit);
    for await (const { kvs } of pagesAt(this.#session, bounds, undefined, { ...query, limit })) {
      for (const { key, value, mod_revision: revision } of kvs)
        entries.push({ key: key.subarray(all.key.length).toString(), value: value ?? EMPTY, version: history.version(revision) });
    }
    return entries;
  }

  async commit(change: Change): Promise<void> {
    this.#lifetime.assertOpen();
    checkKeys(NAME, change);
    const { expect, put, delete: deletes, notify } = change;
    if (!expect?.length && !put?.length && !deletes?.length && !notify?.length) return;
    await this.#writer.commit(change);
  }

  changes(listener: ChangeListener): Unsubscribe {
    this.#lifetime.assertOpen();
    const entry: ChangeListener = (keys) => listener(keys);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  staleness(): Staleness {
    return this.#notifications.staleness();
  }

  capacity(): Capacity | undefined {
    return this.#quota.capacity;
  }

  async copy(): Promise<StoreCopy> {
    this.#lifetime.assertOpen();
    return RevisionCopy.open(this.#session, this.#layout);
  }

  async replace(): Promise<Replacement> {
    this.#lifetime.assertOpen();
    return NewGeneration.begin(this.#session, this.#layout, this.#limits.ops);
  }

  /** One turn of the housekeeping, which otherwise comes every five minutes: for tests. */
  tidy(): Promise<void> {
    return this.#housekeeping.round();
  }

  close(): Promise<void> {
    return this.#lifetime.close();
  }

  async #close(): Promise<void> {
    this.#listeners.clear();
    await this.#writer.drained();
    await this.#housekeeping.close();
    await this.#notifications.close();
    const markers = this.#committers.flatMap(({ marker }) => marker ?? []);
    // What is left is removed by the housekeeping of another process.
    if (markers.length > 0) await this.#session.once({ success: markers.map((key) => remove(key)) }, 1_000).catch(() => undefined);
    this.#session.cluster.close();
  }
}
