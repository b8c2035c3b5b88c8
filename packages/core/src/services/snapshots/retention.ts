import type { Kept } from './schedule-records.ts';

/** Digits of the time in a name: nanoseconds since the epoch. */
const STAMP = 19;

/** The name of a snapshot: `<file_prefix>-<nanoseconds>.snap`. `digits`: six, by which two of one millisecond differ. */
export function snapshotName(filePrefix: string, millis: number, digits: string): string {
  return `${filePrefix}-${millis}${digits}.snap`;
}

/** What is to be deleted, or why nothing is. */
export interface Retention {
  readonly remove: readonly Kept[];
  readonly trouble?: string;
}

/**
 * Which snapshots are to be deleted after a good one. `kept`: those that this server wrote, the oldest first, the good one last. Nothing else is ever deleted, and the good one
 * stays. While `found` has snapshots that the server does not know, later than its oldest, somebody else writes there, such as a copy of this store that was restored elsewhere, or this store
 * was restored itself: then nothing is deleted until an operator writes the settings again (`accepted`). Times are milliseconds since the epoch.
 */
export function retentionOf(
  kept: readonly Kept[],
  found: readonly string[],
  { filePrefix, retain, maxAge, accepted, now }: { filePrefix: string; retain: number; maxAge: number; accepted: number; now: number },
): Retention {
  const ours = new Set(kept.map(({ name }) => name));
  const oldest = Math.max(accepted, kept[0]?.at ?? 0);
  const foreign = found.filter((name) => !ours.has(name) && (timeOf(name, filePrefix) ?? 0) > oldest).sort();
  const old = kept.slice(0, -1).filter(({ at }, index) => index < kept.length - retain || (maxAge > 0 && at < now - maxAge));
  if (foreign.length === 0 || kept.length < 2) return { remove: old };
  const [first] = foreign;
  return {
    remove: [],
    trouble: `another server writes snapshots there, or this store was restored: ${JSON.stringify(first)} is not one of the snapshots that it knows, so no snapshot is deleted; write the settings again to accept it`,
  };
}

/** When a snapshot of this prefix was taken; undefined for the name of anything else. */
function timeOf(name: string, filePrefix: string): number | undefined {
  const rest = name.startsWith(`${filePrefix}-`) ? name.slice(filePrefix.length + 1) : '';
  return rest.length === STAMP + '.snap'.length && /^\d{19}\.snap$/.test(rest) ? Number(rest.slice(0, 13)) : undefined;
}
