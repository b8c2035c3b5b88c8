import { Type, type Static } from 'typebox';
import type { Clock, StorageView } from '@strongroom/engine-sdk';

const VersionRecord = Type.Object({
  /** RFC 3339. */
  timestamp_installed: Type.String(),
  previous_version: Type.Union([Type.String(), Type.Null()]),
  /** '' where the build does not say. */
  build_date: Type.String(),
});
export type VersionRecord = Static<typeof VersionRecord>;

const PREFIX = 'version/';

/** Which versions have run on this store, and since when. */
export class VersionHistory {
  readonly #storage: StorageView;
  readonly #clock: Clock;

  constructor(storage: StorageView, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** After unsealing: keeps the version that runs now, unless it ran before. */
  async record(version: string, buildDate = ''): Promise<void> {
    const installed = this.#clock.now().toISOString();
    const earlier = await this.list();
    await this.#storage.transaction(async (tx) => {
      const records = tx.collection(PREFIX, VersionRecord);
      if (await records.has(version)) return;
      await records.put(version, { timestamp_installed: installed, previous_version: earlier.at(-1)?.[0] ?? null, build_date: buildDate });
    });
  }

  /** The oldest first. */
  async list(): Promise<[version: string, record: VersionRecord][]> {
    const entries = await this.#storage.collection(PREFIX, VersionRecord).entries();
    return entries.sort(([, a], [, b]) => (a.timestamp_installed < b.timestamp_installed ? -1 : 1));
  }
}
