import {
  noOrphan,
  removeOrphans,
  type EngineHost,
  type Intent,
  type OrphanRemover,
  type RemovedOrphans,
  type StorageView,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { textOf, type Cluster } from './cluster.ts';
import { listObjects, type FoundObject } from './cluster-objects.ts';
import { KINDS, MOUNT_LABEL } from './manifests.ts';
import { ObjectRef, recordsIn } from './records.ts';
import type { ServiceAccounts } from './service-accounts.ts';

/** Longer than a request with all its deadlines: seconds. */
const INTENT_AGE = 180;
/** Removals at a time. */
const CONCURRENCY = 4;

const Removal = Type.Object({ username: Type.String(), creation: Type.String(), objects: Type.Array(ObjectRef) });

/** What is left of one creation, by the name of its service account. */
export interface Orphan extends Static<typeof Removal> {
  /** Whether a record says so, or only the labels do. */
  readonly known_by: 'record' | 'label';
  /** RFC 3339. */
  readonly created: string;
}

/**
 * Objects that this mount made and that no record keeps: those whose lease was revoked by force, which are recorded as such, and those that the store has
 * never seen since it was restored from a backup, which are known by their labels.
 */
export class OrphanedObjects {
  readonly intent: Intent<typeof Removal>;
  readonly #host: EngineHost;
  readonly #cluster: Cluster;
  readonly #accounts: ServiceAccounts;

  constructor(host: EngineHost, cluster: Cluster, accounts: ServiceAccounts) {
    this.#host = host;
    this.#cluster = cluster;
    this.#accounts = accounts;
    this.intent = {
      kind: 'remove-orphan',
      entry: Removal,
      minAgeSeconds: INTENT_AGE,
      target: () => cluster.target,
      takesBack: true,
      rollback: async (removal, storage, signal) => this.#remove(removal, storage, signal),
      outside: ({ username }) => ({ kind: 'service account', name: username, detail: 'an orphan that is being removed' }),
    };
  }

  /** Sorted by name. @throws BadRequest without a configuration, ApiServerFailed */
  async find(signal: AbortSignal): Promise<readonly Orphan[]> {
    return (await this.#sorted(signal)).orphans;
  }

  /** Removes these, or all. What is not there counts as removed. @throws InvalidRequest, and removes none, where one is no orphan */
  async remove(asked: readonly string[] | 'all', signal: AbortSignal): Promise<RemovedOrphans> {
    const { orphans, kept } = await this.#sorted(signal);
    const left = new Set(orphans.map(({ username }) => username));
    const wanted = new Set(asked === 'all' ? left : asked);
    for (const name of wanted) {
      if (!left.has(name) && kept.has(name)) throw noOrphan(name);
    }
    const there = orphans.filter(({ username }) => wanted.has(username));
    const gone = [...wanted].filter((name) => !left.has(name)).sort();
    return { ...(await removeOrphans(this.#host.storage, there, CONCURRENCY, this.#remover(signal))), gone };
  }

  /** The objects were listed before the records are read: a creation is recorded before it begins, so that a new one is never taken for an orphan. */
  async #sorted(signal: AbortSignal): Promise<{ readonly orphans: readonly Orphan[]; readonly kept: ReadonlySet<string> }> {
    const labelled = await this.#labelled(signal);
    const made = new Map(await recordsIn(this.#host.storage).creations.entries());
    const orphans: Orphan[] = [];
    const kept = new Set<string>();
    for (const [creation, found] of labelled) {
      const username = nameOf(found);
      const known = made.get(creation);
      if (known && known.dropped !== true) {
        kept.add(username);
        continue;
      }
      const objects = found.map(({ ref }) => ref);
      orphans.push({ username, creation, objects, known_by: known ? 'record' : 'label', created: found[0]!.created });
    }
    return { orphans: orphans.sort((a, b) => (a.username < b.username ? -1 : 1)), kept };
  }

  /** What carries the label of this mount, by creation, in the order in which it was made. */
  async #labelled(signal: AbortSignal): Promise<ReadonlyMap<string, readonly FoundObject[]>> {
    return this.#cluster.use(async (access) => {
      const found = new Map<string, FoundObject[]>();
      for (const kind of Object.keys(KINDS) as ObjectRef['kind'][]) {
        for (const object of await listObjects(access, kind, [MOUNT_LABEL, this.#host.mount.uuid], signal)) {
          found.set(object.creation, [...(found.get(object.creation) ?? []), object]);
        }
      }
      return found;
    });
  }

  #remover(signal: AbortSignal): OrphanRemover<Orphan, Static<typeof Removal>> {
    return {
      nameOf: ({ username }) => username,
      note: async (tx, { username, creation, objects }) => {
        const known = await recordsIn(tx).creations.get(creation);
        if (known && known.dropped !== true) throw noOrphan(username, 'it is in use');
        const removal = { username, creation, objects };
        return { intent: await tx.intend(this.intent, removal), removal };
      },
      remove: async (removal) => this.#remove(removal, this.#host.storage, signal),
      textOf,
    };
  }

  async #remove(removal: Static<typeof Removal>, storage: Pick<StorageView, 'collection'>, signal: AbortSignal): Promise<void> {
    await this.#accounts.remove(removal, signal);
    await recordsIn(storage).creations.delete(removal.creation);
  }
}

/** `prod/v-root-…`, as leases name the account. All objects of a creation have its name; what belongs to no namespace may be all that is left. */
function nameOf(found: readonly FoundObject[]): string {
  const { ref } = found.find(({ ref: { namespace } }) => namespace !== '') ?? found[0]!;
  return ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`;
}
