import type { Change, Expectation } from '@strongroom/storage-sdk';
import type { Database } from './open-file.ts';

/**
 * Hands the change to LMDB, with `further` writes that belong to it. The result, or what it resolves to, is a key whose expectation does not hold, if there is one. The
 * conditions are nested, the writes are innermost: LMDB's writer checks and applies them in one transaction, with all others of the group.
 */
export function writeChange(db: Database, change: Change, version: number, further?: () => void): Promise<string | undefined> | undefined {
  const write = (): void => {
    if (change.delete) for (const key of change.delete) void db.remove(key);
    if (change.put) for (const { key, value } of change.put) void db.put(key, value, version);
    further?.();
  };
  const expected = change.expect;
  if (!expected?.length) {
    write();
    return undefined;
  }
  const [first] = expected;
  if (first && expected.length === 1)
    return db.ifVersion(first.key, versionOf(first), write).then((held) => (held ? undefined : first.key));
  const held: Promise<boolean>[] = [];
  const nest = (index: number): void => {
    const expectation = expected[index];
    if (!expectation) return write();
    held[index] = db.ifVersion(expectation.key, versionOf(expectation), () => nest(index + 1));
  };
  nest(0);
  return Promise.all(held).then((results) => expected[results.indexOf(false)]?.key);
}

/** LMDB says null for a key that must not exist. */
function versionOf({ version }: Expectation): number {
  return version ?? (null as unknown as number);
}
