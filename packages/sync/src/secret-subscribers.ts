import type { EngineHost, MountInfo, Schedule, SecretSubscriber, Transaction } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { Destinations } from './destinations.ts';
import { RULED_MOUNTS, SUBSCRIBED_MOUNTS, pages, recordsIn, secretId } from './records.ts';
import { forgetRules } from './forget-rules.ts';
import type { SyncQueue } from './sync-queue.ts';

const Unmounted = Type.Object({ mount: Type.String() });
const ChangedSecret = Type.Object({ mount: Type.String(), secret: Type.String() });
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
  readonly #bring: (mount: string, names: readonly string[]) => Promise<unknown>;
  readonly #mounts = new Set<string>();
  readonly #ruled = new Set<string>();

  /** Unsyncs all that came from a mount that is gone. */
  readonly unmountedJob: Schedule<typeof Unmounted> = {
    kind: 'unmounted',
    entry: Unmounted,
    run: async (entry) => this.#unsync(entry),
  };

  /** Lets the rules of a mount look at a secret that has come, changed or gone. */
  readonly ruledJob: Schedule<typeof ChangedSecret> = {
    kind: 'ruled',
    entry: ChangedSecret,
    run: async ({ mount, secret }) => {
      await this.#bring(mount, [secret]);
      return undefined;
    },
  };

  constructor(
    host: EngineHost,
    queue: SyncQueue,
    destinations: Destinations,
    bring: (mount: string, names: readonly string[]) => Promise<unknown>,
  ) {
    this.#host = host;
    this.#queue = queue;
    this.#destinations = destinations;
    this.#bring = bring;
  }

  async load(): Promise<void> {
    const { subscribedMounts, ruledMounts } = recordsIn(this.#host.storage);
    for (const mount of await subscribedMounts.list()) this.#mounts.add(mount);
    for (const mount of await ruledMounts.list()) this.#ruled.add(mount);
    await this.#forgetGoneMounts();
  }

  /** Another process made the first association, or the first rule, of a mount. */
  invalidate(key: string): void {
    if (key.startsWith(SUBSCRIBED_MOUNTS)) this.#mounts.add(key.slice(SUBSCRIBED_MOUNTS.length));
    if (key.startsWith(RULED_MOUNTS)) this.#ruled.add(key.slice(RULED_MOUNTS.length));
  }

  /** The mount has an association, or rules, from now on. */
  async subscribe(tx: Transaction, mount: string, has: { readonly rules?: boolean } = {}): Promise<void> {
    const { subscribedMounts, ruledMounts } = recordsIn(tx);
    if (!(await subscribedMounts.has(mount))) await subscribedMounts.put(mount, {});
    this.#mounts.add(mount);
    if (has.rules !== true) return;
    if (!(await ruledMounts.has(mount))) await ruledMounts.put(mount, {});
    this.#ruled.add(mount);
  }

  async changed(tx: Transaction, { mount, name }: { readonly mount: MountInfo; readonly name: string }): Promise<void> {
    if (!this.#mounts.has(mount.uuid)) return;
    const records = recordsIn(tx);
    const followed = await records.followed.get(secretId(mount.uuid, name));
    for (const id of followed?.associations ?? []) {
      const association = await records.associations.get(id);
      if (association?.wanted === 'synced') await this.#queue.add(tx, association);
    }
    if (this.#ruled.has(mount.uuid)) {
      const entry = { mount: mount.uuid, secret: name };
      await tx.schedule(this.ruledJob, secretId(mount.uuid, name), this.#host.clock.now(), entry);
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
    await this.#host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      await forgetRules(records, (rule) => rule.mount === mount);
      await records.ruledMounts.delete(mount);
      await records.subscribedMounts.delete(mount);
    });
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
