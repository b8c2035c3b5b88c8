import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '@strongroom/engine-sdk';
import type { Siblings } from '../../kernel/siblings.ts';

export interface ReloadOutcome {
  readonly node: string;
  /** RFC 3339. */
  readonly timestamp: string;
  /** '' when it went well. */
  readonly error: string;
}

export type ReloadTarget = { plugin?: string; mounts?: readonly string[] };

const KEPT = 100;
/** Milliseconds in which the other processes reload: as long as engines may take to start. */
const LONGEST = 30_000;

/** Runs reloads in all processes of this server, and remembers how the latest ones went. */
export class PluginReloads {
  readonly #reload: (what: ReloadTarget) => Promise<void>;
  readonly #clock: Clock;
  readonly #siblings: Siblings;
  readonly #outcomes = new Map<string, ReloadOutcome>();

  constructor(reload: (what: ReloadTarget) => Promise<void>, clock: Clock, siblings: Siblings) {
    this.#reload = reload;
    this.#clock = clock;
    this.#siblings = siblings;
    siblings.answer<ReloadTarget>('reloads/run', async (what) => reload(what));
    siblings.answer<string>('reloads/outcome', (id) => this.#outcomes.get(id));
  }

  /** Resolves with the reload's id when it is done. @throws what the reload throws */
  async run(what: ReloadTarget): Promise<string> {
    const id = randomUUID();
    await this.#reload(what);
    await this.#siblings.ask('reloads/run', what, LONGEST);
    this.#keep(id, this.#ended(''));
    return id;
  }

  /** undefined: never heard of, or too long ago. */
  async outcome(id: string): Promise<ReloadOutcome | undefined> {
    return this.#outcomes.get(id) ?? (await this.#siblings.ask<ReloadOutcome | undefined>('reloads/outcome', id)).find(Boolean);
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
