import { Unavailable } from '@strongroom/engine-sdk';
import type { StorageDriver } from '@strongroom/storage-sdk';

/** How far behind the other processes a copy may be that decides a request; milliseconds. */
export const STALE_AFTER = 10_000;
const SOON = { headers: { 'Retry-After': '1' } };

/**
 * Whether what this process keeps copies of (mounts, policies, identity, the key ring, plugins' settings) may decide a request. It may not when
 * the other processes were not heard for ten seconds, and while every copy is being read again.
 */
export class Copies {
  readonly #driver: Pick<StorageDriver, 'staleness'>;
  #epoch = 0;
  #renewed = 0;

  constructor(driver: Pick<StorageDriver, 'staleness'>) {
    this.#driver = driver;
  }

  /** Rises whenever every copy is dropped: what was decided in one epoch is not answered in the next. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Why no request may be decided now; undefined when it may. */
  problem(): string | undefined {
    if (this.#renewed !== this.#epoch) return 'the store has changed as a whole, and everything is being read again';
    const { millis, reason } = this.#driver.staleness();
    if (millis > STALE_AFTER) {
      const since = `the changes of other servers could not be read for ${Math.floor(millis / 1_000)} s`;
      return reason === undefined ? since : `${since}: ${reason}`;
    }
    return undefined;
  }

  /** @throws Unavailable with the reason */
  require(): void {
    const problem = this.problem();
    if (problem !== undefined) throw new Unavailable(problem, SOON);
  }

  /** @throws Unavailable where every copy was dropped since that epoch */
  stillIn(epoch: number): void {
    const reason = this.reasonAgainst(epoch);
    if (reason) throw reason;
  }

  /** Why what was decided in that epoch is no answer; undefined where it is. */
  reasonAgainst(epoch: number): Unavailable | undefined {
    if (epoch === this.#epoch) return undefined;
    return new Unavailable(
      'the store changed as a whole during the call, so whether the call took effect is not known: read before you try again',
      SOON,
    );
  }

  /** From now on no copy counts, until `renewed` with what this gives. */
  drop(): number {
    this.#epoch += 1;
    return this.#epoch;
  }

  /** Everything was read again; false when it has changed once more meanwhile. */
  renewed(epoch: number): boolean {
    if (epoch !== this.#epoch) return false;
    this.#renewed = epoch;
    return true;
  }
}
