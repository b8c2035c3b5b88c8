import { InternalError, Unavailable, type Clock, type Log } from '@strongroom/engine-sdk';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { Type } from 'typebox';
import { randomBytes } from '../random/random-bytes.ts';
import { Records } from '../storage/records.ts';
import type { Store, StoreTransaction } from '../storage/store.ts';
import { RepeatedFault } from '../faults/repeated-fault.ts';
import { ProcessFacts, type ProcessTable } from './process-table.ts';

const lives = new Records('core/incarnation/', ProcessFacts);
const beats = new Records('core/incarnation-beat/', Type.Object({ count: Type.Number() }));
/** Of lives that have ended, until their work is handed on. */
const ENDED = 'core/incarnation-ended/';
/** How often a process says that it lives. Milliseconds, as all that follow. */
const BEAT = 5_000;
/** A process whose beats stand still for so long, by the observer's own clock, is dead. */
const SILENCE = 20_000;
/** Without a beat for so long a process begins nothing outside: soon others may take it for dead. */
const DOUBT = 10_000;

const EMPTY = new Uint8Array(0);

/** A clock that only goes forward; that of the machine may be set. */
export const monotonicClock: Clock = {
  now: () => new Date(),
  millis: () => performance.now(),
  after(millis, callback) {
    const timer = setTimeout(callback, millis);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** What works on behalf of a process, and is handed on when the process is dead. */
export interface OrphanedWork {
  /** Makes due now what these lives had under work. Resolves with the number of entries. May be repeated. */
  handOn(ended: ReadonlySet<string>): Promise<number>;
}

/**
 * The lives of the processes on one store. Each has an id of its own, from unseal to seal, whose record others can look at: by it they know what
 * a dead process had under work, and that it is dead. Where the record is gone, its process may store no result any more.
 */
export class Incarnations {
  readonly #store: Store;
  readonly #driver: StorageDriver;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #fault: RepeatedFault;
  readonly #processes: ProcessTable;
  /** Everything this process works on is to end: it was presumed dead, and others have taken the work over. */
  readonly #presumedDead: () => void;
  readonly #work: OrphanedWork[] = [];
  readonly #seen = new Map<string, { count: number; since: number }>();
  #id = '';
  #changes = 0;
  #count = 0;
  #lastBeat = 0;
  #cancel: (() => void) | undefined;
  /** Rises with every begin and end, so that work of an earlier life stops. */
  #life = 0;

  constructor(parts: { store: Store; driver: StorageDriver; clock: Clock; log: Log; processes: ProcessTable; presumedDead: () => void }) {
    this.#store = parts.store;
    this.#driver = parts.driver;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#fault = new RepeatedFault({
      ...parts,
      level: 'warn',
      message: 'this server could not record that it is alive, or look for servers that have ended',
    });
    this.#processes = parts.processes;
    this.#presumedDead = parts.presumedDead;
  }

  /** The present life; '' while sealed. */
  get id(): string {
    return this.#id;
  }

  /** Which of the living processes this one is, in the order of their ids, by the last look at the store. `changes` rises whenever one comes or goes, this one included. */
  get place(): { readonly of: number; readonly rank: number; readonly changes: number } {
    const others = [...this.#seen.keys()];
    return { of: others.length + 1, rank: others.filter((id) => id < this.#id).length, changes: this.#changes };
  }

  /** The lives of the other processes, by the last look at the store. */
  get others(): ReadonlySet<string> {
    return new Set(this.#seen.keys());
  }

  /** Whether the process of a life runs, as far as can be told. */
  async runs(id: string): Promise<boolean> {
    return id === this.#id || !(await this.#isGone(id));
  }

  handsOn(work: OrphanedWork): void {
    this.#work.push(work);
  }

  /** At unseal. */
  async begin(): Promise<void> {
    await this.#bear();
    this.#next(0, this.#life);
  }

  /** At seal: from now on nothing counts as this process's work. The record goes by itself; where the store fails, others find the process gone. */
  end(): void {
    const id = this.#id;
    this.#life += 1;
    this.#id = '';
    this.#cancel?.();
    this.#seen.clear();
    this.#changes += 1;
    if (id === '') return;
    // Its name needs no key, so that this works while the keys are being forgotten.
    const change = { delete: [lives.key(id), beats.key(id)], put: [{ key: ENDED + id, value: EMPTY }] };
    this.#driver.commit(change).catch(() => undefined);
  }

  /** Before a call to an outside system. Costs no look into the store. @throws Unavailable where others may soon take this process for dead */
  requireBeating(): void {
    const since = this.#clock.millis() - this.#lastBeat;
    if (this.#id !== '' && since <= DOUBT) return;
    if (this.#id === '') throw new Unavailable('Vault is sealed');
    throw new Unavailable(
      `this server could not write to its store for ${Math.floor(since / 1_000)} s, so it begins no change outside; try again`,
      { headers: { 'Retry-After': '5' } },
    );
  }

  /** Fences what is stored for a life: where its record is gone, others have taken its work over. @throws InternalError */
  async require(tx: StoreTransaction, id: string): Promise<void> {
    if (id === '' || (await lives.get(tx, id)) === undefined) {
      throw new InternalError('this server was presumed dead while it worked on this, and the change is being undone');
    }
  }

  /** Looks at the others now, and hands on the work of the dead. */
  async look(): Promise<void> {
    const now = this.#clock.millis();
    const beating = await beats.entries(this.#store, {}, (error) => this.#log.error(error.message));
    for (const [id, { count }] of beating) {
      if (id === this.#id) continue;
      const seen = this.#seen.get(id);
      if (!seen) this.#changes += 1;
      if (seen?.count !== count) this.#seen.set(id, { count, since: now });
      const silent = seen?.count === count && now - seen.since >= SILENCE;
      if (silent || (await this.#isGone(id))) await this.#bury(id, count, silent);
    }
    const present = new Set(beating.map(([id]) => id));
    for (const id of this.#seen.keys()) if (!present.has(id)) this.#left(id);
    await this.#handOn();
  }

  #left(id: string): void {
    if (this.#seen.delete(id)) this.#changes += 1;
  }

  async #bear(): Promise<void> {
    const id = randomBytes(9).toString('base64url');
    const began = this.#clock.millis();
    await this.#store.transaction(async (tx) => {
      lives.create(tx, id, this.#processes.own());
      beats.create(tx, id, { count: 0 });
    });
    this.#life += 1;
    this.#id = id;
    this.#count = 0;
    this.#lastBeat = began;
  }

  #next(millis: number, life: number): void {
    if (life !== this.#life) return;
    this.#cancel = this.#clock.after(millis, () => {
      this.#turn(life, millis > 0)
        .catch((error: unknown) => this.#fault.happened(error))
        .finally(() => this.#next(BEAT, this.#life === life ? life : -1));
    });
  }

  async #turn(life: number, beating: boolean): Promise<void> {
    if (beating && !(await this.#beat()) && life === this.#life) {
      this.#log.warn(
        'the store does not know this server any more: a snapshot took its place, or this server was presumed dead because it had not written to it for too long. It stops its work and continues under a new id',
      );
      this.#presumedDead();
      await this.#bear();
      this.#next(BEAT, this.#life);
      return;
    }
    if (life === this.#life) await this.look();
  }

  /** False: the record is gone. */
  async #beat(): Promise<boolean> {
    const id = this.#id;
    const began = this.#clock.millis();
    const alive = await this.#store.transaction(async (tx) => {
      if (!(await lives.get(tx, id))) return false;
      beats.put(tx, id, { count: this.#count + 1 });
      return true;
    });
    if (alive && id === this.#id) {
      this.#count += 1;
      this.#lastBeat = began;
    }
    return alive;
  }

  async #isGone(id: string): Promise<boolean> {
    const facts = await lives.get(this.#store, id);
    return facts === undefined || this.#processes.exists(facts) === false;
  }

  /** Only while it has not beaten since it was looked at. */
  async #bury(id: string, count: number, silent: boolean): Promise<void> {
    const buried = await this.#store.transaction(async (tx) => {
      if ((await beats.get(tx, id))?.count !== count) return false;
      lives.delete(tx, id);
      beats.delete(tx, id);
      tx.mark(ENDED + id);
      return true;
    });
    this.#left(id);
    if (buried)
      this.#log.warn('the work of another process of this store is taken over', {
        reason: silent ? 'it did not write to the store for 20 s' : 'it has ended',
      });
  }

  async #handOn(): Promise<void> {
    const keys = await this.#store.keys({ prefix: ENDED, limit: 256 });
    if (keys.length === 0) return;
    const ended = new Set(keys.map((key) => key.slice(ENDED.length)));
    let count = 0;
    for (const work of this.#work) count += await work.handOn(ended);
    if (count > 0) this.#log.info('work of processes that have ended was taken over', { entries: count });
    await this.#store.transaction(async (tx) => {
      for (const key of keys) tx.delete(key);
    });
  }
}
