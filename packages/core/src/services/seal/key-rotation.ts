import { BadRequest, type Clock } from '@strongroom/engine-sdk';
import { Conflict } from '@strongroom/storage-sdk';
import { Type, type Static } from 'typebox';
import { SingleRecord } from '../../kernel/storage/records.ts';
import type { Store } from '../../kernel/storage/store.ts';
import type { Barrier } from '../../kernel/barrier/barrier.ts';

const MOST = 3_865_470_566;
/** So many encryptions may be forgotten by a crash: few beside `MOST`. */
const SAVE_AFTER = 100_000;

/** When the barrier key rotates by itself. */
export const RotateConfig = Type.Object({
  enabled: Type.Boolean(),
  /** Encryptions per key. */
  max_operations: Type.Number(),
  /** Seconds; 0 for none. */
  interval: Type.Number(),
});
export type RotateConfig = Static<typeof RotateConfig>;

const rotateConfig = new SingleRecord('core/rotate-config', RotateConfig);
const defaults: RotateConfig = { enabled: true, max_operations: MOST, interval: 0 };

/** Rotates the barrier key automatically, after a number of encryptions or a period. */
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
    return (await rotateConfig.get(this.#store)) ?? defaults;
  }

  /** @throws BadRequest for settings out of range */
  async configure(config: RotateConfig): Promise<void> {
    if (config.interval !== 0 && config.interval < 86_400) throw new BadRequest('interval must be greater or equal to 24h0m0s');
    if (config.max_operations < 1_000_000 || config.max_operations > MOST)
      throw new BadRequest(`max_operations must be in the range [1000000,${MOST}]`);
    await this.#store.transaction(async (tx) => rotateConfig.put(tx, config));
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
