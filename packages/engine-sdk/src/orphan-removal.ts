import { Type } from 'typebox';
import { BadRequest, InvalidRequest } from './errors.ts';
import { f } from './field.ts';
import type { OpenIntent } from './intent-kind.ts';
import { mapConcurrently } from './map-concurrently.ts';
import type { StorageView, Transaction } from './storage-view.ts';

/** What became of orphans whose removal was asked for. All by name, sorted. */
export interface RemovedOrphans {
  readonly removed: readonly string[];
  /** Not there (any more). */
  readonly gone: readonly string[];
  /** What went wrong; the journal tries again. */
  readonly pending: Readonly<Record<string, string>>;
}

/** How one kind of orphan is removed. `Noted` is what the journal keeps of a removal. */
export interface OrphanRemover<Orphan, Noted> {
  nameOf(orphan: Orphan): string;
  /** Notes the removal in the journal. @throws InvalidRequest where it is no orphan any more */
  note(tx: Transaction, orphan: Orphan): Promise<{ readonly intent: OpenIntent; readonly removal: Noted }>;
  /** Removes it outside. To remove one twice does no harm. */
  remove(removal: Noted): Promise<void>;
  /** The words of an error of `remove`, without secrets. */
  textOf(error: unknown): string;
}

/** Removes orphans, at most `limit` at a time. Those that fail stay in the journal. Rejects with what `note` throws. */
export async function removeOrphans<Orphan, Noted>(
  storage: Pick<StorageView, 'transaction'>,
  orphans: readonly Orphan[],
  limit: number,
  remover: OrphanRemover<Orphan, Noted>,
): Promise<Omit<RemovedOrphans, 'gone'>> {
  const removed: string[] = [];
  const pending: Record<string, string> = {};
  await mapConcurrently(orphans, limit, async (orphan) => {
    const name = remover.nameOf(orphan);
    const { intent, removal } = await storage.transaction(async (tx) => remover.note(tx, orphan));
    try {
      await remover.remove(removal);
    } catch (error) {
      await storage.transaction(async (tx) => tx.abandon(intent));
      pending[name] = remover.textOf(error);
      return;
    }
    await storage.transaction(async (tx) => tx.settle(intent));
    removed.push(name);
  });
  return { removed: removed.sort(), pending };
}

/** The refusal to remove what is no orphan. */
export function noOrphan(name: string, why = 'either this mount did not make it, or it is still in use'): InvalidRequest {
  return new InvalidRequest(`${JSON.stringify(name)} is no orphan: ${why}`);
}

/** The fields by which a path that removes orphans takes their names. */
export const orphanFields = {
  usernames: f.commaStrings('Those to remove.'),
  all: f.bool('Remove all that are listed at the moment.', { default: false }),
};

/** The operation of a path with `orphanFields` that removes orphans. `place` is where they are, such as `the directory`. */
export function orphanRemoval<Data extends OrphanChoice>(
  place: string,
  remove: (asked: readonly string[] | 'all', request: OrphanRequest<Data>) => Promise<RemovedOrphans>,
) {
  const names = Type.Array(Type.String());
  return {
    summary: 'Removes orphans.',
    response: Type.Object({
      removed: names,
      gone: Type.Array(Type.String(), { description: `Asked for, and not in ${place}.` }),
      pending: Type.Record(Type.String(), Type.String(), { description: 'Could not be removed yet, and why. The server goes on trying.' }),
    }),
    handle: async (request: OrphanRequest<Data>) => {
      const { usernames = [], all } = request.data;
      if (all === usernames.length > 0) throw new BadRequest('give either usernames, those to remove, or all=true');
      const { removed, gone, pending } = await remove(all ? 'all' : usernames, request);
      return { data: { removed: [...removed], gone: [...gone], pending: { ...pending } } };
    },
  };
}

/** What `orphanFields` hold in a request. */
export interface OrphanChoice {
  readonly usernames: string[] | undefined;
  readonly all: boolean;
}

/** A request with `orphanFields`. */
export interface OrphanRequest<Data extends OrphanChoice = OrphanChoice> {
  readonly data: Data;
  readonly signal: AbortSignal;
}

/** The warning that goes with a list of orphans that are known by the mark of the mount. `things` are such as `users`. */
export function orphanCopiesWarning(things: string): string {
  return `a copy of this server, such as another server that was restored from its backup, marks its ${things} alike; remove ${things} by name where there is one`;
}
