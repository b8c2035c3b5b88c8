import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Collection, ListQuery } from '@strongroom/engine-sdk';

/** Records that are read at a time. */
const CHUNK = 256;
/** Of those, what is asked for side by side between two turns of others. */
const TOGETHER = 32;

/**
 * A page of what the records of a collection stand for, in the order of their ids. It reads no more records than the page has room for; those that `read`
 * leaves out, by undefined, leave no gap. Without a limit it reads all of them, while others have their turn.
 */
export async function pageOf<R, T>(
  records: Pick<Collection<R>, 'entries'>,
  { limit = Infinity, ...query }: ListQuery,
  read: (id: string, record: R) => T | undefined | Promise<T | undefined>,
): Promise<T[]> {
  const found: T[] = [];
  let { after } = query;
  while (found.length < limit) {
    const size = Math.min(CHUNK, limit - found.length);
    const entries = await records.entries({ ...query, limit: size, ...(after === undefined ? {} : { after }) });
    for (let at = 0; at < entries.length; at += TOGETHER) {
      const all = await Promise.all(entries.slice(at, at + TOGETHER).map(([id, record]) => read(id, record)));
      for (const one of all) if (one !== undefined) found.push(one);
      if (all.length === TOGETHER) await nextTurn();
    }
    if (entries.length < size) break;
    after = entries.at(-1)![0];
  }
  return found;
}
