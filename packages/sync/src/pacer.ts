import type { Clock } from '@strongroom/engine-sdk';
import type { Pace } from '@strongroom/sync-sdk';

/** Which state of a destination runs: a pause that the provider asked for ends when the destination is written again. */
interface Paced {
  readonly id: string;
  readonly generation: number;
}

interface Bucket {
  generation: number;
  tokens: number;
  at: number;
  /** Until then the provider asks to wait. */
  pausedUntil: number;
  /** Who waits for a turn, and when it comes. */
  readonly turns: Map<string, number>;
  lastTurn: number;
}

/** What most runs take: a look and a write. */
const CALLS = 2;
/** How long a turn that nobody takes is kept. */
const FORGOTTEN = 600_000;

/**
 * A token bucket per destination. Runs never wait inside: one that comes too early gets the time of its turn, and the schedule brings it
 * back then. The calls of a run are counted as they are made, so that a run that takes many delays those after it.
 */
export class Pacer {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: go ahead. Else when to come again. */
  turn({ id, generation }: Paced, who: string, pace: Pace): Date | undefined {
    const now = this.#clock.millis();
    const bucket = this.#bucket(id, pace, now);
    if (generation > bucket.generation) {
      bucket.generation = generation;
      bucket.pausedUntil = 0;
      bucket.turns.clear();
      bucket.lastTurn = 0;
    }
    const turn = bucket.turns.get(who);
    if (turn !== undefined && turn <= now && bucket.pausedUntil <= now && bucket.tokens >= 1) {
      bucket.turns.delete(who);
      return undefined;
    }
    if (turn === undefined && bucket.turns.size === 0 && bucket.tokens >= 1 && bucket.pausedUntil <= now) return undefined;
    if (turn !== undefined && turn > now) return new Date(turn);
    const free = bucket.tokens >= 1 ? now : Math.max(now + 1, now + ((1 - bucket.tokens) / pace.perSecond) * 1_000);
    // Who has waited and comes while others' calls are still being caught up does not go to the end of the line.
    const behind = turn !== undefined || bucket.turns.size === 0 ? 0 : bucket.lastTurn + (CALLS * 1_000) / pace.perSecond;
    const next = Math.ceil(Math.max(free, bucket.pausedUntil, behind));
    if (next <= now) return undefined;
    bucket.lastTurn = Math.max(bucket.lastTurn, next);
    bucket.turns.set(who, next);
    return new Date(next);
  }

  /** A call is made. */
  spend(destination: string, pace: Pace): void {
    this.#bucket(destination, pace, this.#clock.millis()).tokens -= 1;
  }

  pause({ id, generation }: Paced, pace: Pace, until: number): void {
    const bucket = this.#bucket(id, pace, this.#clock.millis());
    if (generation < bucket.generation) return;
    bucket.generation = generation;
    bucket.pausedUntil = Math.max(bucket.pausedUntil, until);
  }

  forget(destination: string): void {
    this.#buckets.delete(destination);
  }

  #bucket(destination: string, pace: Pace, now: number): Bucket {
    let bucket = this.#buckets.get(destination);
    if (!bucket) {
      bucket = { generation: 0, tokens: pace.burst, at: now, pausedUntil: 0, turns: new Map(), lastTurn: 0 };
      this.#buckets.set(destination, bucket);
    }
    bucket.tokens = Math.min(pace.burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1_000) * pace.perSecond);
    bucket.at = now;
    for (const [who, turn] of bucket.turns) {
      if (turn > now - FORGOTTEN) break;
      bucket.turns.delete(who);
    }
    return bucket;
  }
}
