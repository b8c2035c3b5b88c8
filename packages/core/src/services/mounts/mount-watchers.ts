import type { StoreTransaction } from '../../kernel/storage/store.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';

/** Tells the engines that subscribe to secrets of what happens to them, inside the transaction in which it happens. */
export class MountWatchers {
  readonly #mounts: { byUuid(uuid: string): Mount | undefined; watchers(): readonly Mount[] };

  constructor(mounts: { byUuid(uuid: string): Mount | undefined; watchers(): readonly Mount[] }) {
    this.#mounts = mounts;
  }

  async changed(tx: StoreTransaction, uuid: string, name: string): Promise<void> {
    for (const watcher of this.#mounts.watchers()) {
      const mount = this.#mounts.byUuid(uuid);
      if (mount) await watcher.engine?.subscriber?.changed(watcher.storage.within(tx), { mount, name });
    }
  }

  async unmounted(tx: StoreTransaction, mount: Mount): Promise<void> {
    for (const watcher of this.#mounts.watchers()) {
      if (watcher !== mount) await watcher.engine?.subscriber?.unmounted(watcher.storage.within(tx), mount);
    }
  }
}
