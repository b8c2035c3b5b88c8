import { abortable, retryDelay, thrownText, Unavailable, type Clock, type Log } from '@strongroom/engine-sdk';

/** A copy of something at an issuer. */
export interface Copy<T> {
  readonly value: T;
  /** Seconds that the issuer says it stays as it is; undefined where it does not say. */
  readonly maxAge: number | undefined;
}

export interface RefreshingCacheParts<T> {
  /** For the log: `the keys at https://…`. */
  readonly what: string;
  readonly clock: Clock;
  readonly log: Log;
  fetch(signal: AbortSignal): Promise<Copy<T>>;
}

/** Milliseconds. A copy is refreshed in the background after its `max-age`, within these bounds. */
const FRESH = { least: 60_000, usual: 600_000, most: 3_600_000 };
/** Milliseconds that a copy can be used while it cannot be refreshed: a day, or its `max-age` where that is longer, but at most a week. */
const LIFETIME = { least: 86_400_000, most: 604_800_000 };
const AGAIN = { first: 5_000, most: 300_000 };
/** Refreshes that callers can demand: so many at once, and then one for each interval. */
const DEMANDS = { burst: 5, interval: 5_000 };

/**
 * Keeps a copy of something at an issuer, and refreshes it in the background before it is old. Callers wait only for the first copy, and for a refresh that
 * they demand. While the issuer is down the copy stays usable for its lifetime. One fetch is under way at a time.
 */
export class RefreshingCache<T> {
  readonly #parts: RefreshingCacheParts<T>;
  readonly #closed = new AbortController();
  #copy: { readonly value: T; readonly usableUntil: number } | undefined;
  #fetching: Promise<T> | undefined;
  #failures = 0;
  #lastError: string | undefined;
  #cancelTimer: (() => void) | undefined;
  #demands = DEMANDS.burst;
  #demandsAt: number;

  constructor(parts: RefreshingCacheParts<T>) {
    this.#parts = parts;
    this.#demandsAt = parts.clock.millis();
  }

  /** Why the last fetch failed; undefined if it succeeded or there was none. */
  get lastError(): string | undefined {
    return this.#lastError;
  }

  /** The copy, or undefined where there is none that is usable. */
  get present(): T | undefined {
    return this.#copy && this.#parts.clock.millis() < this.#copy.usableUntil ? this.#copy.value : undefined;
  }

  /** The copy; fetched now if there is none. @throws what the fetch throws, and the reason of `signal` */
  async get(signal: AbortSignal): Promise<T> {
    return this.present ?? abortable(signal, this.#fetch());
  }

  /**
   * A new copy, because the present one lacks something. Undefined where too many were demanded lately.
   * @throws what the fetch throws, and the reason of `signal`
   */
  async refreshed(signal: AbortSignal): Promise<T | undefined> {
    if (!this.#fetching && !this.#takeDemand()) return undefined;
    return abortable(signal, this.#fetch());
  }

  /** Fetches a copy where there is none. Resolves when that was tried; never rejects. */
  async warm(): Promise<void> {
    // A failure is in the log, and the next attempt is due.
    if (this.present === undefined) await this.#fetch().catch(() => undefined);
  }

  close(): void {
    this.#closed.abort(new Unavailable('the configuration changed'));
    this.#cancelTimer?.();
  }

  #takeDemand(): boolean {
    const now = this.#parts.clock.millis();
    const gained = Math.floor((now - this.#demandsAt) / DEMANDS.interval);
    if (gained > 0) {
      this.#demands = Math.min(DEMANDS.burst, this.#demands + gained);
      this.#demandsAt += gained * DEMANDS.interval;
    }
    if (this.#demands === 0) return false;
    this.#demands -= 1;
    return true;
  }

  #fetch(): Promise<T> {
    this.#fetching ??= this.#fetchOnce().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #fetchOnce(): Promise<T> {
    const { fetch, log, what } = this.#parts;
    try {
      const copy = await fetch(this.#closed.signal);
      this.#keep(copy);
      return copy.value;
    } catch (error) {
      this.#failures += 1;
      this.#lastError = thrownText(error);
      if (!this.#closed.signal.aborted) {
        log.warn(`${what} could not be fetched`, { error, failures: this.#failures, usable: this.present !== undefined });
        this.#refreshIn(retryDelay(this.#failures, Math.random, AGAIN));
      }
      throw error;
    }
  }

  #keep({ value, maxAge }: Copy<T>): void {
    const now = this.#parts.clock.millis();
    const said = maxAge === undefined ? FRESH.usual : maxAge * 1_000;
    this.#copy = { value, usableUntil: now + Math.min(LIFETIME.most, Math.max(LIFETIME.least, said)) };
    this.#failures = 0;
    this.#lastError = undefined;
    this.#refreshIn(Math.min(FRESH.most, Math.max(FRESH.least, said)));
  }

  #refreshIn(millis: number): void {
    this.#cancelTimer?.();
    if (this.#closed.signal.aborted) return;
    // A failure is in the log, and the next attempt is due.
    this.#cancelTimer = this.#parts.clock.after(millis, () => void this.#fetch().catch(() => undefined));
  }
}
