import { randomBytes, randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { SingleRecord } from '../../kernel/storage/records.ts';
import type { Store } from '../../kernel/storage/store.ts';

const clusterRecord = new SingleRecord('core/cluster', Type.Object({ name: Type.String(), id: Type.String() }));

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
      const found = await clusterRecord.get(tx);
      if (found && (name === undefined || found.name === name)) return found;
      const made = { name: name ?? found?.name ?? `strongroom-${randomBytes(4).toString('hex')}`, id: found?.id ?? randomUUID() };
      clusterRecord.put(tx, made);
      return made;
    });
  }
}
