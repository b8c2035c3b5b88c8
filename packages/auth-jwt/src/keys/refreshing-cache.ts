import { abortable, retryDelay, thrownText, Unavailable, type Clock, type Log } from '@strongroom/engine-sdk';
import type { JsonObject } from '../json/json-pointer.ts';
import type { Fetched } from './get-json.ts';
import type { KeptCopy } from './kept-copies.ts';

export interface RefreshingCacheParts<T> {
  /** For the log: `the keys at https://…`. */
  readonly what: string;
  readonly clock: Clock;
  readonly log: Log;
  fetch(signal: AbortSignal): Promise<Fetched>;
  /** What the body means. @throws IssuerRefused */
  read(body: JsonObject): T;
  /** Where the copy outlives this process; absent where it does not. */
  readonly kept?: KeptCopy;
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
 * they demand. While the issuer is down the copy stays usable for its lifetime, also after a restart where it is kept. One fetch is under way at a time.
 */
export class RefreshingCache<T> {
  readonly #parts: RefreshingCacheParts<T>;
  readonly #closed = new AbortController();
  #copy: { readonly value: T; readonly usableUntil: number } | undefined;
  #fetching: Promise<T> | undefined;
  #failures = 0;
  #lastError: string | undefined;
  #cancelTimer: (() => void) | undefined;
  #restored: Promise<void> | undefined;
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

  /** Resolves when a copy that was kept can be used. Never rejects. */
  async restored(): Promise<void> {
    await (this.#restored ??= this.#restore());
  }

  /** The copy; fetched now if there is none. @throws what the fetch throws, and the reason of `signal` */
  async get(signal: AbortSignal): Promise<T> {
    await this.restored();
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
    await this.restored();
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
    const { clock, fetch, kept, log, read, what } = this.#parts;
    try {
      const fetched = await fetch(this.#closed.signal);
      const value = read(fetched.body);
      this.#failures = 0;
      this.#lastError = undefined;
      this.#use(value, fetched.maxAge, clock.millis());
      await kept?.save(fetched, clock.millis());
      return value;
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

  async #restore(): Promise<void> {
    const { kept, log, read, what } = this.#parts;
    try {
      const copy = await kept?.load();
      if (copy && this.#copy === undefined) this.#use(read(copy.body), copy.maxAge, copy.at);
    } catch (error) {
      log.warn(`${what}: the stored copy cannot be used`, { error });
    }
  }

  /** `at`: when it was fetched, in milliseconds since the epoch. */
  #use(value: T, maxAge: number | undefined, at: number): void {
    const said = maxAge === undefined ? FRESH.usual : maxAge * 1_000;
    this.#copy = { value, usableUntil: at + Math.min(LIFETIME.most, Math.max(LIFETIME.least, said)) };
    const freshUntil = at + Math.min(FRESH.most, Math.max(FRESH.least, said));
    this.#refreshIn(Math.max(0, freshUntil - this.#parts.clock.millis()));
  }

  #refreshIn(millis: number): void {
    this.#cancelTimer?.();
    if (this.#closed.signal.aborted) return;
    // A failure is in the log, and the next attempt is due.
    this.#cancelTimer = this.#parts.clock.after(millis, () => void this.#fetch().catch(() => undefined));
  }
}
