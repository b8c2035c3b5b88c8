import { Conflict, StorageFailure, type Change, type Expectation } from '@strongroom/storage-sdk';
import { TouchedKeys, weightOf, type Weight } from './batch.ts';
import { asFailure, isTooLarge, isTooManyOps, NAME } from './failure.ts';
import type { History } from './history.ts';
import type { Committer } from './committer.ts';

const MAX_CHANGES = 64;
const MAX_BYTES = 2 ** 20;
const ANOTHER_HISTORY = "the store was replaced, or etcd's history has changed; nothing was written, and the same may succeed later";

interface Waiting {
  readonly change: Change;
  readonly weight: Weight;
  /** The history that it was made in. */
  readonly epoch: number;
  readonly resolve: () => void;
  readonly reject: (error: Conflict | StorageFailure) => void;
}

/** Commits that wait and touch different keys share the next transaction; each succeeds or fails on its own. */
export class Writer {
  readonly #committers: readonly Committer[];
  readonly #free: Committer[];
  readonly #history: History;
  readonly #ops: number;
  #queue: Waiting[] = [];
  /** What the transactions under way touch. */
  readonly #underWay = new Set<TouchedKeys>();
  #scheduled = false;
  #idle: (() => void) | undefined;

  /** `ops`: operations that a transaction may have. */
  constructor(committers: readonly Committer[], history: History, ops: number) {
    this.#committers = committers;
    this.#free = [...committers];
    this.#history = history;
    this.#ops = ops;
  }

  /** @throws Conflict, StorageFailure */
  commit(change: Change): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ change, weight: weightOf(change), epoch: this.#history.epoch, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves once nothing waits or runs. */
  drained(): Promise<void> {
    if (this.#quiet()) return Promise.resolve();
    return new Promise((resolve) => (this.#idle = resolve));
  }

  /** Shows that this process is alive. Committers that are at work need not. */
  async touch(): Promise<void> {
    const idle = this.#free.splice(0);
    await Promise.all(
      idle.map(async (committer) => {
        try {
          await committer.touch();
        } finally {
          this.#release(committer);
        }
      }),
    );
  }

  #quiet(): boolean {
    return this.#queue.length === 0 && this.#free.length === this.#committers.length;
  }

  /** At the end of the turn, so that commits made in it come along. */
  #schedule(): void {
    if (this.#scheduled || this.#free.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#free.length > 0 && this.#queue.length > 0) {
        const touched = new TouchedKeys();
        const batch = this.#take(touched);
        // All others wait for records that are being written.
        if (batch.length === 0) break;
        const committer = this.#free.pop()!;
        this.#underWay.add(touched);
        void this.#run(committer, batch).finally(() => {
          this.#underWay.delete(touched);
          this.#release(committer);
        });
      }
    });
  }

  #release(committer: Committer): void {
    this.#free.push(committer);
    if (this.#queue.length > 0) this.#schedule();
    else if (this.#quiet()) this.#idle?.();
  }

  /** Those that go together, in their order, with what they touch; those that touch the same keys come later. */
  #take(taken: TouchedKeys): Waiting[] {
    const touched = new TouchedKeys();
    const batch: Waiting[] = [];
    const later: Waiting[] = [];
    let [bytes, ops] = [0, 0];
    const [first] = this.#queue;
    for (const waiting of this.#queue) {
      const { change, weight, epoch } = waiting;
      const most = Math.max(ops, weight.ops);
      // The marker and the head of the notifications are operations too.
      const fits =
        batch.length === 0 ||
        (batch.length < MAX_CHANGES && bytes + weight.bytes <= MAX_BYTES && batch.length + 3 + most <= this.#ops && epoch === first?.epoch);
      if (fits && touched.takes(change) && ![...this.#underWay].some((other) => !other.takes(change))) {
        batch.push(waiting);
        taken.add(change);
        [bytes, ops] = [bytes + weight.bytes, most];
      } else later.push(waiting);
      touched.add(change);
      if (batch.length === MAX_CHANGES) {
        later.push(...this.#queue.slice(batch.length + later.length));
        break;
      }
    }
    this.#queue = later;
    return batch;
  }

  async #run(committer: Committer, batch: readonly Waiting[]): Promise<void> {
    const epoch = batch[0]?.epoch ?? 0;
    try {
      if (epoch !== this.#history.epoch) throw new StorageFailure(NAME, ANOTHER_HISTORY, { transient: true });
      const bytes = batch.reduce((sum, { weight }) => sum + weight.bytes, 0);
      const { revision, conflicts } = await committer.commit(
        batch.map(({ change }) => change),
        epoch,
        bytes,
      );
      batch.forEach(({ resolve, reject }, i) => {
        const key = conflicts[i];
        if (key === undefined) resolve();
        else reject(new Conflict(key));
      });
      this.#refuseOutdated(
        batch.filter((_, i) => conflicts[i] === undefined).map(({ change }) => change),
        revision,
        epoch,
      );
    } catch (error) {
      if (batch.length > 1 && (isTooLarge(error) || isTooManyOps(error))) {
        for (const each of batch) await this.#run(committer, [each]);
        return;
      }
      const failure = asFailure(error);
      for (const { reject } of batch) reject(failure);
    }
  }

  /** Those that still wait and expect what these changes have replaced conflict for certain: versions never come again. */
  #refuseOutdated(done: readonly Change[], revision: number, epoch: number): void {
    if (this.#queue.length === 0 || epoch !== this.#history.epoch) return;
    const written = new Set<string>();
    for (const { put = [], delete: deletes = [] } of done) {
      for (const { key } of put) written.add(key);
      for (const key of deletes) written.add(key);
    }
    const isOutdated = ({ key, version }: Expectation): boolean =>
      version !== undefined && written.has(key) && this.#history.revisionOf(version) < revision;
    this.#queue = this.#queue.filter((waiting) => {
      const outdated = waiting.epoch === epoch ? waiting.change.expect?.find(isOutdated) : undefined;
      if (outdated) waiting.reject(new Conflict(outdated.key));
      return !outdated;
    });
  }
}
