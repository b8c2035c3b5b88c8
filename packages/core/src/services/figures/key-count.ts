import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Log } from '@strongroom/engine-sdk';

/** Keys that are counted at a time. */
const PAGE = 1_000;
/** A count takes at most this share of the time. */
const SHARE = 50;
/** Milliseconds between two counts in the background. */
const AGE = 600_000;

interface Parts {
  readonly clock: Clock;
  readonly log: Log;
  /** Keys in order. */
  readonly keys: (query: { readonly after?: string; readonly limit: number }) => Promise<readonly string[]>;
}

/** How many records there are of a kind: counted rarely where there are many, page by page. */
export class KeyCount {
  readonly #parts: Parts;
  #known: number | undefined;
  #at = -Infinity;
  #took = 0;
  #counting: Promise<void> | undefined;
  /** Rises whenever what was counted is to be forgotten. */
  #epoch = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Of the last count; undefined before the first. */
  get last(): number | undefined {
    return this.#known;
  }

  /** Counts again, unless counting takes long and was done lately. */
  async current(): Promise<number> {
    if (this.#counting) await this.#counting;
    else if (this.#known === undefined || this.#age > SHARE * this.#took) await this.#run();
    return this.#known ?? 0;
  }

  /** Counts in the background if the last count is old. */
  refresh(): void {
    if (this.#counting || this.#age <= Math.max(AGE, SHARE * this.#took)) return;
    this.#run().catch((error: unknown) => this.#parts.log.warn('records could not be counted', { error: String(error) }));
  }

  /** At seal. */
  forget(): void {
    this.#epoch += 1;
    this.#known = undefined;
    this.#at = -Infinity;
  }

  get #age(): number {
    return this.#parts.clock.millis() - this.#at;
  }

  #run(): Promise<void> {
    const run = this.#count().finally(() => (this.#counting = undefined));
    this.#counting = run;
    return run;
  }

  async #count(): Promise<void> {
    const epoch = this.#epoch;
    const began = this.#parts.clock.millis();
    let count = 0;
    let page: readonly string[];
    let after: string | undefined;
    do {
      page = await this.#parts.keys({ limit: PAGE, ...(after === undefined ? {} : { after }) });
      count += page.length;
      after = page.at(-1);
      await nextTurn();
    } while (page.length === PAGE);
    if (epoch !== this.#epoch) return;
    const now = this.#parts.clock.millis();
    this.#known = count;
    this.#took = now - began;
    this.#at = now;
  }
}
