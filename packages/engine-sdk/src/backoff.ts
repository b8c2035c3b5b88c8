/** How delays grow. */
export interface Backoff {
  /** The delay after the first failure. Milliseconds; default: 10 s. */
  readonly first?: number;
  /** The longest delay, before randomness. Milliseconds; default: 5 minutes. */
  readonly most?: number;
}

/**
 * The delay before the next try, in milliseconds: it doubles with each attempt, and a quarter more or less is random, so that crowds spread.
 * `attempts` counts the failures so far; `random` returns a number from 0 to 1.
 */
export function retryDelay(attempts: number, random: () => number, { first = 10_000, most = 300_000 }: Backoff = {}): number {
  const full = Math.min(most, first * 2 ** Math.min(Math.max(attempts - 1, 0), 20));
  return Math.round(full * (0.75 + random() * 0.5));
}
