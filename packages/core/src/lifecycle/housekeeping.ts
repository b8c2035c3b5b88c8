import type { Clock, Log } from '@strongroom/engine-sdk';
import type { PolicyStore } from '../services/policies/policy-store.ts';
import type { KeyRotation } from '../services/seal/key-rotation.ts';

/** Milliseconds. */
const INTERVAL = 60_000;

/** What an unsealed server does once a minute: rotates the barrier key when it is due, and removes expired policies. */
export class Housekeeping {
  readonly #parts: { clock: Clock; log: Log; rotation: KeyRotation; policies: PolicyStore };
  #cancel: (() => void) | undefined;
  /** Rises with every start and stop: a round that ends later schedules no other. */
  #run = 0;

  constructor(parts: { clock: Clock; log: Log; rotation: KeyRotation; policies: PolicyStore }) {
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
    await this.#parts.policies.removeExpired();
  }
}
