import { BadRequest, f, formatDuration, path, type AnyPath, type Clock } from '@strongroom/engine-sdk';
import { Conflict } from '@strongroom/storage-sdk';
import type { Store } from '../storage/store.ts';
import type { Barrier } from './barrier.ts';

const CONFIG = 'core/rotate-config';
const MOST = 3_865_470_566;
/** So many encryptions may be forgotten by a crash: few beside `MOST`. */
const SAVE_AFTER = 100_000;

interface RotateConfig {
  enabled: boolean;
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

  async configure(config: RotateConfig): Promise<void> {
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

/** `sys/key-status` and `sys/rotate…` */
export function keyPaths({ barrier, rotation }: { barrier: Barrier; rotation: KeyRotation }): AnyPath[] {
  const rotate = {
    summary: 'Rotates the barrier key.',
    handle: async () => {
      await barrier.rotate();
      return undefined;
    },
  };
  const about = {
    synopsis: 'Adds a key to the key ring.',
    description: 'What is written from now on uses it; what was written stays readable.',
    access: 'sudo' as const,
    fields: {},
  };
  return [
    path('key-status', {
      synopsis: 'The barrier key in use.',
      description: 'Its term, when it was installed, and how often it encrypted.',
      fields: {},
    }).read({
      summary: 'Shows the key status.',
      handle: async () => ({
        data: { term: barrier.ring.term, install_time: barrier.ring.installedAt, encryptions: barrier.ring.encryptions },
      }),
    }),
    path('rotate', about).update(rotate),
    path('rotate/keyring', about).update(rotate),
    path('rotate/config', {
      synopsis: 'When the barrier key rotates by itself.',
      description: 'After max_operations encryptions, and each interval.',
      fields: {
        enabled: f.bool('Whether it does.'),
        max_operations: f.int('Encryptions per key.'),
        interval: f.duration('At most so long with one key; at least 24 hours, or 0.'),
      },
    })
      .read({
        summary: 'Shows the rotation settings.',
        handle: async () => {
          const config = await rotation.config();
          return {
            data: {
              max_operations: config.max_operations,
              enabled: config.enabled,
              interval: config.interval === 0 ? 0 : formatDuration(config.interval),
            },
          };
        },
      })
      .update({
        summary: 'Changes the rotation settings.',
        handle: async ({ data, supplied }) => {
          const before = await rotation.config();
          const config: RotateConfig = {
            enabled: supplied.has('enabled') ? data.enabled === true : before.enabled,
            max_operations: data.max_operations ?? before.max_operations,
            interval: data.interval ?? before.interval,
          };
          if (config.interval !== 0 && config.interval < 86_400) throw new BadRequest('interval must be greater or equal to 24h0m0s');
          if (config.max_operations < 1_000_000 || config.max_operations > MOST)
            throw new BadRequest(`max_operations must be in the range [1000000,${MOST}]`);
          await rotation.configure(config);
          return undefined;
        },
      }),
  ];
}
