import type { StoreTransaction } from '../../kernel/storage/store.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';

/** Tells the engines that follow secrets of what happens to them, inside the transaction in which it happens. */
export class Followers {
  readonly #mounts: { byUuid(uuid: string): Mount | undefined; followers(): readonly Mount[] };

  constructor(mounts: { byUuid(uuid: string): Mount | undefined; followers(): readonly Mount[] }) {
    this.#mounts = mounts;
  }

  async changed(tx: StoreTransaction, uuid: string, name: string): Promise<void> {
    for (const follower of this.#mounts.followers()) {
      const mount = this.#mounts.byUuid(uuid);
      if (mount) await follower.engine?.subscriber?.changed(follower.storage.within(tx), { mount, name });
    }
  }

  async unmounted(tx: StoreTransaction, mount: Mount): Promise<void> {
    for (const follower of this.#mounts.followers()) {
      if (follower !== mount) await follower.engine?.subscriber?.unmounted(follower.storage.within(tx), mount);
    }
  }
}
