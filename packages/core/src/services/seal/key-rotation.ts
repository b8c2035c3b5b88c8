import { BadRequest, type Clock } from '@strongroom/engine-sdk';
import { Conflict } from '@strongroom/storage-sdk';
import type { Store } from '../../kernel/storage/store.ts';
import type { Barrier } from '../../kernel/barrier/barrier.ts';

const CONFIG = 'core/rotate-config';
const MOST = 3_865_470_566;
/** So many encryptions may be forgotten by a crash: few beside `MOST`. */
const SAVE_AFTER = 100_000;

/** When the barrier key rotates by itself. */
export interface RotateConfig {
  enabled: boolean;
  /** Encryptions per key. */
  max_operations: number;
  /** Seconds; 0 for none. */
  interval: number;
}
const defaults: RotateConfig = { enabled: true, max_operations: MOST, interval: 0 };

/** Rotates the barrier key by itself: after so many encryptions, or so long. */
export class KeyRotation {
  readonly #barrier: Barrier;
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(parts: { barrier: Barrier; store: Store; clock: Clock }) {
    this.#barrier = parts.barrier;
    this.#store = parts.store;
    this.#clock = parts.clock;
  }

  async config(): Promise<RotateConfig> {
    return (await this.#store.get<RotateConfig>(CONFIG)) ?? defaults;
  }

  /** @throws BadRequest for settings out of range */
  async configure(config: RotateConfig): Promise<void> {
    if (config.interval !== 0 && config.interval < 86_400) throw new BadRequest('interval must be greater or equal to 24h0m0s');
    if (config.max_operations < 1_000_000 || config.max_operations > MOST)
      throw new BadRequest(`max_operations must be in the range [1000000,${MOST}]`);
    await this.#store.transaction(async (tx) => tx.put(CONFIG, config));
  }

  /** Called now and then while unsealed. */
  async check(): Promise<boolean> {
    const { enabled, interval, max_operations } = await this.config();
    const { ring } = this.#barrier;
    if (ring.unsavedEncryptions >= SAVE_AFTER) await this.#barrier.saveCount().catch(ignoreConflict);
    const age = this.#clock.millis() - Date.parse(ring.installedAt);
    if (!enabled || (ring.encryptions < max_operations && (interval === 0 || age < interval * 1_000))) return false;
    await this.#barrier.rotate();
    return true;
  }
}

/** Another process was faster; the next check adds up again. */
function ignoreConflict(error: unknown): void {
  if (!(error instanceof Conflict)) throw error;
}
