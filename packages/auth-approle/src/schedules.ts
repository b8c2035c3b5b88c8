import type { Clock, Log, Schedule, ScheduleKind, StorageView, Transaction } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { SecretIds } from './secret-ids.ts';

const NoEntry = Type.Object({});
const EndedRole = Type.Object({ role: Type.String() });

/** Removal of expired secret ids. */
export const tidying = { kind: 'tidy-secret-ids', entry: NoEntry } satisfies ScheduleKind<typeof NoEntry>;
/** Removal of the secret ids of a deleted role, by the key of the role. */
export const endedRole = { kind: 'ended-role', entry: EndedRole } satisfies ScheduleKind<typeof EndedRole>;

/** The tidy job that runs once a minute, and the one that an operator asked for. */
const REGULAR = 'regular';
const ASKED = 'asked';
const EVERY = 60_000;
/** Chunks of secret ids that one run removes: what is left is removed by the next one. */
const CHUNKS_A_RUN = 100;

/** The jobs of a mount. */
export class Tidying {
  readonly schedules: readonly [Schedule<typeof NoEntry>, Schedule<typeof EndedRole>];
  readonly #clock: Clock;
  /** This process knows that the regular job is scheduled; it never ends. */
  #regular = false;

  constructor(parts: {
    readonly secretIds: SecretIds;
    readonly clock: Clock;
    readonly log: Log;
    readonly mount: { readonly path: string };
  }) {
    const { secretIds, clock, log, mount } = parts;
    this.#clock = clock;
    this.schedules = [
      {
        ...tidying,
        run: async (_entry, storage, signal, { id }) => {
          const removed = await secretIds.removeExpired(storage, signal);
          if (id === ASKED || removed > 0) log.info('expired secret ids were removed', { mount: mount.path, removed });
          return id === REGULAR ? new Date(clock.millis() + EVERY) : undefined;
        },
      },
      {
        ...endedRole,
        run: async ({ role }, storage, signal) => {
          for (let chunk = 0; chunk < CHUNKS_A_RUN; chunk += 1) {
            signal.throwIfAborted();
            if (!(await secretIds.removeSomeOf(storage, role))) return undefined;
          }
          return clock.now();
        },
      },
    ];
  }

  /** In the transaction that stores a secret id that expires. */
  async keepRunning(tx: Transaction): Promise<void> {
    if (this.#regular) return;
    if (!(await tx.jobStatus(tidying, REGULAR))) await tx.schedule(tidying, REGULAR, new Date(this.#clock.millis() + EVERY), {});
  }

  /** The transaction of `keepRunning` was committed. */
  keepsRunning(): void {
    this.#regular = true;
  }

  /** Resolves with whether a tidy job was started; false: one is under way already. */
  async start(storage: StorageView): Promise<boolean> {
    return storage.transaction(async (tx) => {
      if (await tx.jobStatus(tidying, ASKED)) return false;
      await tx.schedule(tidying, ASKED, this.#clock.now(), {});
      return true;
    });
  }
}
