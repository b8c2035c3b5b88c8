import { Conflict, StorageFailure } from '@strongroom/storage-sdk';
import type { Change } from '@strongroom/storage-sdk';
import { keysOf } from './batch.ts';
import type { Connections } from './connections.ts';
import { isAnswer, isCancelled, isCollision, isElsewhere, isGone, isLockWait, NAME } from './failure.ts';
import { outcomeOfCommit } from './outcome.ts';
import type { Schema } from './schema.ts';
import { LIMITS } from './session.ts';
import { AnotherHistory, Transaction, Unreplicated, type Progress } from './transaction.ts';

const MAX_CHANGES = 128;
const MAX_BYTES = 8 * 2 ** 20;
const ATTEMPTS = 20;
/** How long a commit may wait for a lock while others could use its connection. */
const FIRST_LOCK_MS = 200;
/** How long nothing may have happened before that is the answer. */
const PATIENCE_MS = 15_000;
const HELD = 'other processes hold the same records; nothing was written, and the same may succeed later';
const ANOTHER_HISTORY =
  'the store was replaced, or PostgreSQL has another history since a failover or a restore; nothing was written, and the same may succeed later';
const UNKNOWN = 'PostgreSQL was lost during the commit, and whether it happened cannot be found out';
const UNREPLICATED =
  'PostgreSQL gave up waiting for its synchronous standby: the commit happened on one server alone, and a failover would lose it';

interface Waiting {
  readonly change: Change;
  readonly bytes: number;
  /** The history that it was made in. */
  readonly epoch: number;
  /** Monotonic. */
  readonly deadline: number;
  readonly resolve: () => void;
  readonly reject: (error: Conflict | StorageFailure) => void;
}

/**
 * Commits that wait for a connection share the next transaction; each succeeds or fails on its own. Those whose records another transaction
 * holds wait in a queue of their own, with one connection, so that they are in nobody's way.
 */
export class Writer {
  readonly #connections: Connections;
  readonly #schema: Schema;
  readonly #transaction: Transaction;
  readonly #parallel: number;
  #queue: Waiting[] = [];
  #running = 0;
  #scheduled = false;
  #idle: (() => void) | undefined;
  /** Commits that wait for locks. */
  #held: Waiting[] = [];
  #laneRunning = false;
  /** The keys of all in that queue, with how many want them. */
  readonly #heldKeys = new Map<string, number>();

  /** `parallel`: the writer's connections, at least 2. */
  constructor(connections: Connections, schema: Schema, origin: string, parallel: number) {
    this.#connections = connections;
    this.#schema = schema;
    this.#transaction = new Transaction(connections, schema, origin);
    this.#parallel = parallel;
  }

  /** @throws Conflict, StorageFailure */
  commit(change: Change): Promise<void> {
    return new Promise((resolve, reject) => {
      const bytes = (change.put ?? []).reduce((sum, { key, value }) => sum + key.length + value.length, 0);
      const { epoch } = this.#connections.history;
      this.#queue.push({ change, bytes, epoch, deadline: performance.now() + PATIENCE_MS, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves once nothing waits or runs. */
  drained(): Promise<void> {
    if (this.#quiet()) return Promise.resolve();
    return new Promise((resolve) => (this.#idle = resolve));
  }

  #quiet(): boolean {
    return this.#running === 0 && this.#queue.length === 0 && !this.#laneRunning;
  }

  /** At the end of the turn, so that commits made in it come along. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#free()) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#running < this.#free() && this.#queue.length > 0) {
        const batch = this.#take();
        if (batch.length === 0) continue;
        this.#running += 1;
        void this.#run(batch).finally(() => {
          this.#running -= 1;
          this.#proceed();
        });
      }
    });
  }

  #proceed(): void {
    if (this.#queue.length > 0) this.#schedule();
    else if (this.#quiet()) this.#idle?.();
  }

  #free(): number {
    return this.#laneRunning ? this.#parallel - 1 : this.#parallel;
  }

  #take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#queue) {
      bytes += waiting.bytes;
      if (count > 0 && (count === MAX_CHANGES || bytes > MAX_BYTES)) break;
      count += 1;
    }
    const batch = this.#queue.splice(0, count);
    if (this.#heldKeys.size === 0) return batch;
    // What wants the same records would only wait behind those in that queue.
    return batch.filter((waiting) => {
      const held = keysOf([waiting.change]).some((key) => this.#heldKeys.has(key));
      if (held) this.#hold(waiting);
      return !held;
    });
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#settle(batch, FIRST_LOCK_MS);
    } catch (error) {
      if (isLockWait(error)) return this.#divide(batch);
      if (batch.length > 1 && isAnswer(error)) {
        // One of them the server will not have: find out which.
        for (const each of batch) await this.#run([each]);
        return;
      }
      this.#refuse(batch, error);
    }
  }

  /** Some of them wait for a lock: those go to that queue, and the others are written without them. */
  async #divide(batch: readonly Waiting[]): Promise<void> {
    const [only] = batch;
    if (batch.length === 1 && only) return this.#hold(only);
    const locked = await this.#locked(batch);
    const free = batch.filter(({ change }) => !keysOf([change]).some((key) => locked.has(key)));
    for (const waiting of batch) if (!free.includes(waiting)) this.#hold(waiting);
    if (free.length < batch.length) return free.length > 0 ? this.#run(free) : undefined;
    // Only inserts wait, and nobody tells for what: one by one, until those that wait are found.
    for (const each of batch) {
      if (keysOf([each.change]).some((key) => this.#heldKeys.has(key))) this.#hold(each);
      else await this.#run([each]);
    }
  }

  /** The records among those wanted that another transaction holds just now. */
  async #locked(batch: readonly Waiting[]): Promise<ReadonlySet<string>> {
    const { entries } = this.#schema;
    const keys = keysOf(batch.map(({ change }) => change));
    try {
      const rows = await this.#connections.read<{ key: string }>(
        `SELECT key FROM ${entries} WHERE key = ANY($1::text[])
         EXCEPT SELECT key FROM (SELECT key FROM ${entries} WHERE key = ANY($1::text[]) FOR UPDATE SKIP LOCKED) AS free`,
        [keys],
      );
      return new Set(rows.map(({ key }) => key));
    } catch {
      return new Set();
    }
  }

  #hold(waiting: Waiting): void {
    for (const key of keysOf([waiting.change])) this.#heldKeys.set(key, (this.#heldKeys.get(key) ?? 0) + 1);
    this.#held.push(waiting);
    if (this.#laneRunning) return;
    this.#laneRunning = true;
    void this.#runHeld().finally(() => {
      this.#laneRunning = false;
      this.#proceed();
    });
  }

  async #runHeld(): Promise<void> {
    for (let batch = this.#takeHeld(); batch.length > 0; batch = this.#takeHeld()) {
      try {
        await this.#settle(batch, LIMITS.lock_timeout);
      } catch (error) {
        const now = performance.now();
        if (isLockWait(error)) {
          const late = batch.filter(({ deadline }) => now >= deadline);
          this.#refuse(late, new StorageFailure(NAME, HELD, { transient: true }));
          for (const waiting of batch) if (!late.includes(waiting)) this.#hold(waiting);
        } else if (batch.length > 1 && isAnswer(error)) {
          for (const each of batch) await this.#run([each]);
        } else this.#refuse(batch, error);
      }
    }
  }

  /** The first, and those that want records that it wants. */
  #takeHeld(): Waiting[] {
    const [first] = this.#held;
    if (!first) return [];
    const wanted = new Set(keysOf([first.change]));
    let bytes = 0;
    const batch: Waiting[] = [];
    this.#held = this.#held.filter((waiting) => {
      bytes += waiting.bytes;
      const taken =
        waiting === first || (batch.length < MAX_CHANGES && bytes <= MAX_BYTES && keysOf([waiting.change]).some((key) => wanted.has(key)));
      if (taken) batch.push(waiting);
      return !taken;
    });
    for (const { change } of batch) {
      for (const key of keysOf([change])) {
        const left = (this.#heldKeys.get(key) ?? 1) - 1;
        if (left === 0) this.#heldKeys.delete(key);
        else this.#heldKeys.set(key, left);
      }
    }
    return batch;
  }

  /** Writes them and answers those that waited. @throws what keeps all of them from being written */
  async #settle(batch: readonly Waiting[], lockMs: number): Promise<void> {
    const { history } = this.#connections;
    const deadline = Math.min(...batch.map((waiting) => waiting.deadline));
    const current: Waiting[] = [];
    let conflicts: readonly (string | undefined)[] = [];
    for (let attempt = 1, lost = 0; ; attempt++) {
      const progress: Progress = { committing: undefined, conflicts: [] };
      let { epoch, past } = history;
      try {
        conflicts = await this.#connections.use(async (use) => {
          ({ epoch, past } = history);
          current.length = 0;
          // What was decided by another history's records must not be written into this one.
          for (const waiting of batch) if (waiting.epoch === epoch) current.push(waiting);
          if (current.length === 0) return [];
          await this.#transaction.run(
            use,
            current.map(({ change }) => change),
            lockMs,
            progress,
          );
          return progress.conflicts;
        });
        if (progress.committing && history.past !== past) throw new StorageFailure(NAME, UNKNOWN);
        break;
      } catch (error) {
        if (error instanceof StorageFailure && progress.committing) throw error;
        if (error instanceof Unreplicated) throw new StorageFailure(NAME, UNREPLICATED);
        if (progress.committing && !isAnswer(error)) {
          const outcome = await outcomeOfCommit(this.#connections, progress.committing, past);
          if (outcome === undefined) throw new StorageFailure(NAME, UNKNOWN);
          if (outcome === 'committed') {
            conflicts = progress.conflicts;
            break;
          }
        }
        // From here on nothing has happened.
        if (isLockWait(error)) throw error;
        const again = attempt < ATTEMPTS && performance.now() < deadline;
        if (isCancelled(error)) {
          if (again) continue;
          throw new StorageFailure(NAME, 'PostgreSQL took too long; nothing was written, and the same may succeed later', {
            transient: true,
          });
        }
        if (again && (isCollision(error) || error instanceof AnotherHistory || (isGone(error) && history.epoch !== epoch))) continue;
        // The pool may have kept a connection that the server closed long ago, or that leads to a server which takes no writes any more.
        if (again && (isElsewhere(error) || !isAnswer(error)) && lost < 2) {
          lost += 1;
          continue;
        }
        throw error;
      }
    }
    current.forEach(({ resolve, reject }, i) => {
      const key = conflicts[i];
      if (key === undefined) resolve();
      else reject(new Conflict(key));
    });
    if (current.length === batch.length) return;
    const past = batch.filter((waiting) => !current.includes(waiting));
    this.#refuse(past, new StorageFailure(NAME, ANOTHER_HISTORY, { transient: true }));
  }

  #refuse(batch: readonly Waiting[], error: unknown): void {
    if (batch.length === 0) return;
    const failure = this.#connections.failure(error);
    for (const { reject } of batch) reject(failure);
  }
}
