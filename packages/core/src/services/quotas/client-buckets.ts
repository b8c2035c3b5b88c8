import type { Clock } from '@strongroom/engine-sdk';

/** What a bucket said to a request. Spans are whole seconds. */
export type Taken =
  | { readonly allowed: true; readonly limit: number; readonly remaining: number; readonly reset: number }
  | { readonly allowed: false; readonly limit: number; readonly reset: number; readonly retryAfter: number; readonly blocked: boolean };

interface Bucket {
  used: number;
  /** Milliseconds since the epoch. */
  resetAt: number;
  blockedUntil: number;
}

/** Seconds of an interval, and how long a refused client stays refused. */
export interface BucketRule {
  readonly interval: number;
  readonly block_interval: number;
}

/** A bucket that nobody used for so long is dropped, once it means nothing. Milliseconds. */
const IDLE = 180_000;
const MOST = 100_000;

/** The buckets of one rate limit, one for each client address. In memory: see docs/decisions/0040. */
export class ClientBuckets {
  readonly #clock: Clock;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes one request of the client out of its bucket, which is full again at the end of the interval. `limit`: whole requests in an interval. */
  take(client: string, limit: number, rule: BucketRule): Taken {
    const now = this.#clock.millis();
    const bucket = this.#bucket(client, now, rule);
    if (bucket.blockedUntil > now) {
      return { allowed: false, limit, reset: 0, retryAfter: seconds(bucket.blockedUntil - now), blocked: true };
    }
    const reset = seconds(bucket.resetAt - now);
    if (bucket.used < limit) {
      bucket.used += 1;
      return { allowed: true, limit, remaining: limit - bucket.used, reset };
    }
    if (rule.block_interval > 0) bucket.blockedUntil = now + rule.block_interval * 1_000;
    return { allowed: false, limit, reset, retryAfter: rule.block_interval > 0 ? rule.block_interval : reset, blocked: false };
  }

  get size(): number {
    return this.#buckets.size;
  }

  #bucket(client: string, now: number, { interval }: BucketRule): Bucket {
    let bucket = this.#buckets.get(client);
    if (bucket) this.#buckets.delete(client);
    else this.#makeRoom(now);
    if (!bucket || bucket.resetAt <= now) bucket = { used: 0, resetAt: now + interval * 1_000, blockedUntil: bucket?.blockedUntil ?? 0 };
    this.#buckets.set(client, bucket);
    return bucket;
  }

  /** Drops what means nothing any more, a few at a time; beyond the most, the one that was used longest ago. */
  #makeRoom(now: number): void {
    let looked = 0;
    for (const [client, { resetAt, blockedUntil }] of this.#buckets) {
      const over = resetAt + IDLE <= now && blockedUntil <= now;
      if (!over && this.#buckets.size < MOST) return;
      this.#buckets.delete(client);
      if ((looked += 1) === 16) return;
    }
  }
}

/** Whole ones, rounded up: a client that waits so long is not early. */
function seconds(millis: number): number {
  return Math.max(1, Math.ceil(millis / 1_000));
}
