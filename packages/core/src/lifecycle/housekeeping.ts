import type { Clock, Log } from '@strongroom/engine-sdk';
import type { SharedEvents } from '../services/events/shared-events.ts';
import type { PolicyStore } from '../services/policies/policy-store.ts';
import type { KeyRotation } from '../services/seal/key-rotation.ts';
import type { Siblings } from '../kernel/siblings.ts';
import type { TokenStore } from '../services/tokens/token-store.ts';

/** Milliseconds. */
const INTERVAL = 60_000;

interface Parts {
  readonly clock: Clock;
  readonly log: Log;
  readonly rotation: KeyRotation;
  readonly policies: PolicyStore;
  readonly sharedEvents: SharedEvents;
  readonly tokens: Pick<TokenStore, 'completeWatched'>;
  readonly siblings: Pick<Siblings, 'first'>;
}

/** What an unsealed server does once a minute: rotates the barrier key when it is due, and, in one of its processes, removes expired policies and old events. */
export class Housekeeping {
  readonly #parts: Parts;
  #cancel: (() => void) | undefined;
  /** Rises with every start and stop: a round that ends later schedules no other. */
  #run = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.stop();
    this.#next(this.#run);
  }

  stop(): void {
    this.#run += 1;
    this.#cancel?.();
  }

  #next(run: number): void {
    this.#cancel = this.#parts.clock.after(INTERVAL, () => {
      this.#round()
        .catch((error: unknown) => this.#parts.log.warn('housekeeping failed', { error: String(error) }))
        .finally(() => {
          if (run === this.#run) this.#next(run);
        });
    });
  }

  async #round(): Promise<void> {
    if (await this.#parts.rotation.check()) this.#parts.log.info('the barrier key was rotated');
    if (!this.#parts.siblings.first) return;
    await this.#parts.policies.removeExpired();
    await this.#parts.sharedEvents.prune();
    await this.#parts.tokens.completeWatched();
  }
}
