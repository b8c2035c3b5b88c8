import type { EngineHost, Schedule, SecretSources, StorageView, Transaction } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { pages, recordsIn } from './records.ts';
import type { SyncQueue } from './sync-queue.ts';

const SweepEntry = Type.Object({});
const ID = 'all';

/**
 * Goes through all associations and takes up what nobody else would: those that waited while syncing was disabled, and those whose secret
 * changed while this engine did not run. It compares versions inside; nothing is asked outside.
 */
export class Sweep {
  readonly #host: EngineHost;
  readonly #sources: SecretSources;
  readonly #queue: SyncQueue;

  readonly job: Schedule<typeof SweepEntry> = {
    kind: 'sweep',
    entry: SweepEntry,
    run: async (_entry, storage, signal) => this.#run(storage, signal),
  };

  constructor(host: EngineHost, sources: SecretSources, queue: SyncQueue) {
    this.#host = host;
    this.#sources = sources;
    this.#queue = queue;
  }

  async begin(tx: Transaction): Promise<void> {
    await tx.schedule(this.job, ID, this.#host.clock.now(), {});
  }

  /** At the start of the engine. */
  async beginIfNeeded(): Promise<void> {
    const { associations } = recordsIn(this.#host.storage);
    if ((await associations.list({ limit: 1 })).length > 0) await this.#host.storage.transaction(async (tx) => this.begin(tx));
  }

  async #run(storage: StorageView, signal: AbortSignal): Promise<undefined> {
    const records = recordsIn(storage);
    for await (const page of pages(records.associations)) {
      for (const [id, association] of page) {
        signal.throwIfAborted();
        const waiting = await records.pending.has(id);
        if (!waiting && association.wanted === 'synced') {
          const source = this.#sources.byUuid(association.mount)?.source;
          if (!source) continue;
          const version = (await source.read(association.secret_name))?.version ?? 0;
          if (version === association.source_version) continue;
        }
        await storage.transaction(async (tx) => {
          const current = await recordsIn(tx).associations.get(id);
          if (!current) return;
          if (waiting) await this.#queue.schedule(tx, current, this.#host.clock.now());
          else if (current.change === association.change) await this.#queue.add(tx, current);
        });
      }
    }
    return undefined;
  }
}
