import { randomBytes, randomUUID } from 'node:crypto';
import type { Store } from '../../kernel/storage/store.ts';

const CLUSTER = 'core/cluster';

/** Name and id of the installation: made once, the same on every node. */
export class Cluster {
  readonly apiAddress: string;
  startedAt: Date;
  #identity: { name: string; id: string } | undefined;

  constructor(apiAddress: string, startedAt: Date) {
    this.apiAddress = apiAddress;
    this.startedAt = startedAt;
  }

  get identity(): { name: string; id: string } | undefined {
    return this.#identity;
  }

  async open(store: Store, name?: string): Promise<void> {
    this.#identity = await store.transaction(async (tx) => {
      const found = await tx.get<{ name: string; id: string }>(CLUSTER);
      if (found && (name === undefined || found.name === name)) return found;
      const made = { name: name ?? found?.name ?? `strongroom-${randomBytes(4).toString('hex')}`, id: found?.id ?? randomUUID() };
      tx.put(CLUSTER, made);
      return made;
    });
  }
}
