import { randomUUID } from 'node:crypto';
import type { Connections } from './connections.ts';
import type { ConnectionRecord, Records } from './records.ts';

/** What a write means for the users that were made through connections of its name. */
export interface Replaced {
  /** It leads elsewhere: the users stay with the settings that they were made with. */
  readonly moved: boolean;
  /** The deleted connection, by its id, whose place it takes: it leads to the same server. */
  readonly revived?: string;
}

/**
 * The record to store, by the id that its users have. A connection that is changed to lead to another server is another connection: to look for them there would find none, and their leases would end without them. One that is made where another was deleted takes its place, if it leads to the
 * same server; it was verified then, unless the operator says not to.
 */
export async function connectionAfterMove(
  connections: Connections,
  { retired }: Records,
  { name, before, record }: { name: string; before: ConnectionRecord | undefined; record: ConnectionRecord },
): Promise<{ record: ConnectionRecord; replaced: Replaced }> {
  const now = { name, record };
  if (before) {
    const known = connections.identity({ name, record: before }) !== undefined;
    const moved = known && !connections.sameSystem({ name, record: before }, now);
    return moved ? { record: { ...record, id: randomUUID(), revision: 1 }, replaced: { moved } } : { record, replaced: { moved } };
  }
  if (!record.verify_connection) return { record, replaced: { moved: false } };
  const [same] = (await retired.entries()).filter(([, other]) => other.name === name && connections.sameSystem(other, now));
  if (!same) return { record, replaced: { moved: false } };
  const [id, { record: old }] = same;
  return { record: { ...record, id, revision: old.revision + 1 }, replaced: { moved: false, revived: id } };
}
