import type { Clock, Log } from '@strongroom/engine-sdk';
import { EVERYTHING, type ChangedKeys, type StorageDriver } from '@strongroom/storage-sdk';
import type { Incarnations, OrphanedWork } from '../../kernel/incarnation/incarnations.ts';
import type { Store } from '../../kernel/storage/store.ts';
import { RepeatedFault } from '../../kernel/faults/repeated-fault.ts';
import type { CoreEvent } from './core-event.ts';
import { batchId, eventBatches, eventOf, ofBatchId, storedEvent, type EventBatch } from './event-batch.ts';
import { CAPACITY, type EventLog } from './event-log.ts';
import type { Events } from './events.ts';

/** How long events are gathered before they are written. Milliseconds, as all that follow. */
const GATHER = 50;
/** The same for those that follow a batch within `QUIET`: each batch costs a transaction here, and a read at every other server. */
const GATHER_BUSY = 250;
const QUIET = 1_000;
/** Before a write that failed is tried again. */
const RETRY = 1_000;
/** How long batches are kept, for servers that start and clients that come back. */
const KEPT = 600_000;
/** Events in a batch. */
const BATCH = 500;
/** Events that wait to be written; more are left out, and those who follow at other servers learn that something is missing. */
const WAITING = 5_000;

interface Parts {
  readonly store: Store;
  readonly driver: StorageDriver;
  readonly clock: Clock;
  /** For the time in which events are gathered. */
  readonly timer: Clock;
  readonly log: Log;
  readonly incarnations: Pick<Incarnations, 'id' | 'others'>;
  readonly events: Events;
  /** What operators call this server. */
  readonly node: string;
  /** What this server knows of the events of all. */
  readonly known: EventLog;
}

/**
 * Passes the events of this server on to the others of the store, and takes theirs. Each life of a server has a log of its own in the store, which it alone
 * writes, in batches: events need no number that servers would have to agree on. Where events may be missing, the log says so.
 */
export class SharedEvents implements OrphanedWork {
  readonly #parts: Parts;
  readonly #fault: RepeatedFault;
  /** Events of this server that the others do not know yet: number and event. */
  #waiting: { readonly number: number; readonly event: CoreEvent | undefined }[] = [];
  /** Batches that this server knows, and when they were written. */
  readonly #batches = new Map<string, number>();
  /** Those of the present life with the number of their events, the oldest first: what nobody could ask for is not kept. */
  #own: { readonly id: string; readonly count: number }[] = [];
  #life = '';
  #number = 0;
  #writing: Promise<boolean> | undefined;
  /** By the timer: when the last batch was begun. */
  #wroteAt = -Infinity;
  #reading: Promise<void> = Promise.resolve();
  #cancel: (() => void) | undefined;
  #open = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#fault = new RepeatedFault({ ...parts, level: 'warn', message: 'events could not be passed on to the other servers yet' });
    parts.events.listen((event) => this.#happened(event));
    parts.driver.changes((changed) => this.#heard(changed));
  }

  /** At unseal, when this process has a life. */
  async begin(): Promise<void> {
    const { store, log, known, events, node } = this.#parts;
    known.clear();
    this.#batches.clear();
    this.#waiting = [];
    const stored = await eventBatches.entries(store, {}, (error) => log.error(error.message));
    stored.sort(([, a], [, b]) => a.at - b.at);
    for (const [id, batch] of stored) this.#take(id, batch);
    this.#live();
    this.#open = true;
    // Also the first event of this life, so that every position names it.
    events.publish({ kind: 'server.unsealed', name: node });
  }

  /** At seal: what was not written is lost for the others, who learn that something may be missing. */
  end(): void {
    this.#open = false;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#waiting = [];
    this.#parts.known.clear();
  }

  /** The process stops in an orderly way: everything is written, and nothing is missing. Before the seal. */
  async leave(): Promise<void> {
    if (!this.#open) return;
    const { store, clock, log, events, node } = this.#parts;
    events.publish({ kind: 'server.stopped', name: node });
    await this.flush();
    this.#open = false;
    const last = this.#number + 1;
    const batch: EventBatch = { from: last, at: clock.millis(), events: [], end: true };
    await store
      .transaction(async (tx) => eventBatches.put(tx, batchId(this.#life, last), batch, true))
      .catch((error: unknown) =>
        log.warn(
          'the store has no mark that the events of this server end here; subscribers of sys/events may hear that some are missing',
          { error: String(error) },
        ),
      );
  }

  /** Writes what waits. Never rejects. */
  async flush(): Promise<void> {
    while (this.#open && this.#waiting.length > 0) {
      this.#cancel?.();
      this.#cancel = undefined;
      const written = await (this.#writing ??= this.#write().finally(() => (this.#writing = undefined)));
      // What came meanwhile waits for more, unless it is a whole batch.
      if (!written || (this.#cancel && this.#waiting.length < BATCH)) return;
    }
  }

  /** Deletes old batches: this server's own, and those of servers that are gone. */
  async prune(): Promise<void> {
    const { store, clock, incarnations, known } = this.#parts;
    const living = incarnations.others;
    const old = [...this.#batches].filter(([id, at]) => clock.millis() - at > KEPT && !living.has(ofBatchId(id).life)).slice(0, BATCH);
    if (old.length === 0) return;
    await store.transaction(async (tx) => {
      for (const [id] of old) eventBatches.delete(tx, id);
    });
    for (const [id] of old) this.#batches.delete(id);
    const kept = new Set([...this.#batches.keys()].map((id) => ofBatchId(id).life));
    for (const life of known.position.keys()) if (life !== this.#life && !living.has(life) && !kept.has(life)) known.drop(life);
  }

  /** Those lives have ended. Unless one did so in an orderly way, its last events may be missing, and its log says so. */
  async handOn(ended: ReadonlySet<string>): Promise<number> {
    const { store, clock } = this.#parts;
    for (const life of ended) {
      const id = await store.transaction(async (tx) => {
        const [key] = await store.keys({ prefix: eventBatches.key(`${life}/`), reverse: true, limit: 1 });
        const lastId = key?.slice(eventBatches.prefix.length);
        const last = lastId === undefined ? undefined : await eventBatches.get(tx, lastId);
        if (last?.end || last?.events.at(-1) === null) return undefined;
        const number = (lastId === undefined ? 0 : ofBatchId(lastId).last) + 1;
        const missing = batchId(life, number);
        eventBatches.put(tx, missing, { from: number, at: clock.millis(), events: [null] }, true);
        return missing;
      });
      if (id === undefined) continue;
      await this.#read(life);
      this.#parts.events.publish({ kind: 'server.gone' });
    }
    return 0;
  }

  /** Resolves when everything that was heard of is known. */
  async caughtUp(): Promise<void> {
    await this.#reading;
  }

  #happened(event: CoreEvent | undefined): void {
    if (!this.#open) return;
    if (this.#life !== this.#parts.incarnations.id) this.#live();
    this.#number += 1;
    const entry = { life: this.#life, number: this.#number, event };
    this.#parts.known.append(entry);
    if (!this.#parts.store.shared) return;
    if (this.#waiting.length >= WAITING) this.#waiting = [{ number: this.#number, event: undefined }];
    else this.#waiting.push(entry);
    if (this.#waiting.length === BATCH) void this.flush();
    else this.#soon(this.#parts.timer.millis() - this.#wroteAt < QUIET ? GATHER_BUSY : GATHER);
  }

  /** Begins the log of the present life. After a process was presumed dead it has another one. */
  #live(): void {
    const before = this.#life;
    this.#life = this.#parts.incarnations.id;
    this.#number = 0;
    this.#waiting = [];
    this.#own = [];
    if (before !== '' && this.#open) this.#happened(undefined);
  }

  #soon(millis: number): void {
    this.#cancel ??= this.#parts.timer.after(millis, () => {
      this.#cancel = undefined;
      void this.flush();
    });
  }

  /** Writes one batch; resolves with whether it was written. Never rejects. */
  async #write(): Promise<boolean> {
    const { store, clock, timer } = this.#parts;
    const life = this.#life;
    const entries = this.#waiting.slice(0, BATCH);
    const [first, last] = [entries[0]!, entries.at(-1)!];
    const id = batchId(life, last.number);
    const at = clock.millis();
    this.#wroteAt = timer.millis();
    const events = entries.map(({ event }) => (event ? storedEvent(event) : null));
    try {
      const own = [...this.#own, { id, count: entries.length }];
      const surplus = own.slice(0, surplusOf(own));
      await store.transaction(async (tx) => {
        eventBatches.put(tx, id, { from: first.number, at, events }, true);
        for (const old of surplus) eventBatches.delete(tx, old.id);
      });
      if (life === this.#life) this.#own = own.slice(surplus.length);
      for (const old of surplus) this.#batches.delete(old.id);
      this.#batches.set(id, at);
      if (life === this.#life) this.#waiting = this.#waiting.filter(({ number }) => number > last.number);
      return true;
    } catch (error) {
      if (this.#open) {
        this.#fault.happened(error);
        this.#cancel?.();
        this.#cancel = undefined;
        this.#soon(RETRY);
      }
      return false;
    }
  }

  #heard(changed: ChangedKeys): void {
    if (!this.#open) return;
    if (changed === EVERYTHING) {
      // Changes may be undone whose events were sent: whoever follows must look for themselves.
      this.#happened(undefined);
      this.#reading = this.#reading.then(async () => this.#readAll());
      return;
    }
    const lives = new Set<string>();
    for (const key of changed) if (key.startsWith(eventBatches.prefix)) lives.add(ofBatchId(key.slice(eventBatches.prefix.length)).life);
    lives.delete(this.#life);
    for (const life of lives) this.#reading = this.#reading.then(async () => this.#read(life));
  }

  async #readAll(): Promise<void> {
    const { store, log } = this.#parts;
    try {
      const keys = await store.keys({ prefix: eventBatches.prefix });
      for (const life of new Set(keys.map((key) => ofBatchId(key.slice(eventBatches.prefix.length)).life))) await this.#read(life);
    } catch (error) {
      if (this.#open) log.warn('the events of other servers could not be read', { error: String(error) });
    }
  }

  /** Takes what a life has written since it was last read. Never rejects. */
  async #read(life: string): Promise<void> {
    const { store, log, known } = this.#parts;
    try {
      const below = `${life}/`;
      const after = batchId(life, known.last(life));
      const stored = await eventBatches.entries(store, { prefix: below, after }, (error) => log.error(error.message));
      for (const [id, batch] of stored) this.#take(id, batch);
    } catch (error) {
      if (this.#open) log.warn('the events of another server could not be read', { error: String(error) });
    }
  }

  #take(id: string, { from, at, events, end }: EventBatch): void {
    const { life } = ofBatchId(id);
    this.#batches.set(id, at);
    if (end) return;
    events.forEach((event, index) =>
      this.#parts.known.append({ life, number: from + index, event: event === null ? undefined : eventOf(event) }),
    );
  }
}

/** How many of the oldest batches can go, so that the others still have as many events as a server keeps. */
function surplusOf(batches: readonly { readonly count: number }[]): number {
  let left = batches.reduce((sum, { count }) => sum + count, 0);
  let surplus = 0;
  while (left - batches[surplus]!.count >= CAPACITY) left -= batches[surplus++]!.count;
  return surplus;
}
