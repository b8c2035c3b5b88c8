import { setTimeout as delay } from 'node:timers/promises';

export interface RetryOptions {
  readonly attempts: number;
  /** Milliseconds to wait after a failed attempt; the first has number 1. */
  delayMs(attempt: number): number;
  /** Whether another attempt may succeed after this error. */
  mayRepeat(error: unknown): boolean;
}

/** Does `work`, again and again where it fails for a while. Rejects with the last error. */
export async function retry<T>({ attempts, delayMs, mayRepeat }: RetryOptions, work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt === attempts || !mayRepeat(error)) throw error;
      await delay(delayMs(attempt));
    }
  }
}
