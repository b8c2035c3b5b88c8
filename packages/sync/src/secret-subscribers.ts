import type { EngineHost, MountInfo, Schedule, SecretSubscriber, Transaction } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { Destinations } from './destinations.ts';
import { SUBSCRIBED_MOUNTS, pages, recordsIn, secretId } from './records.ts';
import type { SyncQueue } from './sync-queue.ts';

const Unmounted = Type.Object({ mount: Type.String() });
/** Longer than any request takes, in milliseconds. */
const LAST_REQUEST = 3_600_000;

/**
 * Is called for every change of every secret that can be synced. Which mounts have associations at all is kept in memory, so that a change in
 * any other costs nothing; in those that have, it costs one read.
 */
export class SecretSubscribers implements SecretSubscriber {
  readonly #host: EngineHost;
  readonly #queue: SyncQueue;
  readonly #destinations: Destinations;
  readonly #mounts = new Set<string>();

  /** Unsyncs all that came from a mount that is gone. */
  readonly unmountedJob: Schedule<typeof Unmounted> = {
    kind: 'unmounted',
    entry: Unmounted,
    run: async (entry) => this.#unsync(entry),
  };

  constructor(host: EngineHost, queue: SyncQueue, destinations: Destinations) {
    this.#host = host;
    this.#queue = queue;
    this.#destinations = destinations;
  }

  async load(): Promise<void> {
    for (const mount of await recordsIn(this.#host.storage).subscribedMounts.list()) this.#mounts.add(mount);
    await this.#forgetGoneMounts();
  }

  /** Another process made the first association of a mount. */
  invalidate(key: string): void {
    if (key.startsWith(SUBSCRIBED_MOUNTS)) this.#mounts.add(key.slice(SUBSCRIBED_MOUNTS.length));
  }

  /** The mount has an association from now on. */
  async subscribe(tx: Transaction, mount: string): Promise<void> {
    const { subscribedMounts } = recordsIn(tx);
    if (!(await subscribedMounts.has(mount))) await subscribedMounts.put(mount, {});
    this.#mounts.add(mount);
  }

  async changed(tx: Transaction, { mount, name }: { readonly mount: MountInfo; readonly name: string }): Promise<void> {
    if (!this.#mounts.has(mount.uuid)) return;
    const records = recordsIn(tx);
    const followed = await records.followed.get(secretId(mount.uuid, name));
    for (const id of followed?.associations ?? []) {
      const association = await records.associations.get(id);
      if (association?.wanted === 'synced') await this.#queue.add(tx, association);
    }
  }

  /** Looks into the store, since another process may have made the first association a moment ago. */
  async unmounted(tx: Transaction, mount: MountInfo): Promise<void> {
    const { subscribedMounts, goneMounts } = recordsIn(tx);
    await goneMounts.put(mount.uuid, { at: this.#host.clock.now().toISOString() });
    if (!(await subscribedMounts.has(mount.uuid))) return;
    await tx.schedule(this.unmountedJob, mount.uuid, this.#host.clock.now(), { mount: mount.uuid });
  }

  async #unsync({ mount }: Static<typeof Unmounted>): Promise<undefined> {
    for await (const page of pages(recordsIn(this.#host.storage).followed, `${mount}/`)) {
      await this.#destinations.removeAll(page.flatMap(([, { associations }]) => associations));
    }
    await recordsIn(this.#host.storage).subscribedMounts.delete(mount);
    return undefined;
  }

  /** Those that no request under way can still mean. */
  async #forgetGoneMounts(): Promise<void> {
    const { goneMounts } = recordsIn(this.#host.storage);
    const old = this.#host.clock.millis() - LAST_REQUEST;
    for await (const page of pages(goneMounts)) {
      for (const [mount, { at }] of page) if (Date.parse(at) < old) await goneMounts.delete(mount);
    }
  }
}
