import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '@strongroom/engine-sdk';

export interface ReloadOutcome {
  readonly node: string;
  /** RFC 3339. */
  readonly timestamp: string;
  /** '' when it went well. */
  readonly error: string;
}

export type ReloadTarget = { plugin?: string; mounts?: readonly string[] };

const KEPT = 100;

/** Runs reloads and remembers how the latest ones of this process went. */
export class PluginReloads {
  readonly #reload: (what: ReloadTarget) => Promise<void>;
  readonly #clock: Clock;
  readonly #outcomes = new Map<string, ReloadOutcome>();

  constructor(reload: (what: ReloadTarget) => Promise<void>, clock: Clock) {
    this.#reload = reload;
    this.#clock = clock;
  }

  /** Resolves with the reload's id when it is done. @throws what the reload throws */
  async run(what: ReloadTarget): Promise<string> {
    const id = randomUUID();
    await this.#reload(what);
    this.#keep(id, this.#ended(''));
    return id;
  }

  /** undefined: never heard of, or too long ago. */
  outcome(id: string): ReloadOutcome | undefined {
    return this.#outcomes.get(id);
  }

  #ended(error: string): ReloadOutcome {
    return { node: hostname(), timestamp: this.#clock.now().toISOString(), error };
  }

  #keep(id: string, outcome: ReloadOutcome): void {
    this.#outcomes.set(id, outcome);
    for (const oldest of this.#outcomes.keys()) {
      if (this.#outcomes.size <= KEPT) break;
      this.#outcomes.delete(oldest);
    }
  }
}
