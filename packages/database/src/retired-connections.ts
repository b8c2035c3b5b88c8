import type { StorageView } from '@strongroom/engine-sdk';
import { recordsIn } from './records.ts';

const PAGE = 100;

/**
 * Drops the settings of a deleted connection once nobody needs them to remove a user. After the deletion no user is added, so what is seen
 * here stays so. Resolves with whether they were dropped.
 */
export async function dropIfUnused(storage: Pick<StorageView, 'collection'>, id: string): Promise<boolean> {
  const { retired, users } = recordsIn(storage);
  if (!(await retired.has(id))) return false;
  const dropped: string[] = [];
  for (;;) {
    const page = await users.entries({ prefix: `${id}/`, limit: PAGE, ...(dropped.length > 0 ? { after: dropped.at(-1)! } : {}) });
    if (page.some(([, user]) => !user.dropped)) return false;
    dropped.push(...page.map(([key]) => key));
    if (page.length < PAGE) break;
  }
  // Nobody will come for users whose leases were dropped by force.
  for (const key of dropped) await users.delete(key);
  await retired.delete(id);
  return true;
}

/** For what a crash left behind. */
export async function dropAllUnused(storage: StorageView): Promise<void> {
  for (const id of await recordsIn(storage).retired.list()) await dropIfUnused(storage, id);
}
