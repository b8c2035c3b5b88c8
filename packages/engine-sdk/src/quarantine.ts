import type { Clock } from './clock.ts';

/** How long something is not used whose plugin broke its contract, in milliseconds. */
export const QUARANTINE_MILLIS = 60_000;

/** Why something is not used, and until when. */
export interface Quarantined {
  readonly reason: string;
  /** In milliseconds since 1970. */
  readonly until: number;
}

/** What is not used for a minute because a plugin broke its contract, such as connections and destinations. One that was written again is free. */
export class Quarantine {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Quarantined & { readonly revision: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on. `revision`: which writing of it the plugin was given. */
  begin(id: string, revision: number, reason: string): void {
    this.#entries.set(id, { reason, revision, until: this.#clock.millis() + QUARANTINE_MILLIS });
  }

  /** Undefined where this revision may be used. */
  find(id: string, revision: number): Quarantined | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    if (revision <= entry.revision && this.#clock.millis() < entry.until) return entry;
    this.#entries.delete(id);
    return undefined;
  }

  end(id: string): void {
    this.#entries.delete(id);
  }
}
