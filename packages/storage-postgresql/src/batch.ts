import type { Change } from '@strongroom/storage-sdk';

/** Stands for the version that a commit earlier in the same batch gives a key: nobody can have expected it. */
const FRESH = -1;

/** What a batch of changes amounts to, given the versions found: each key is in at most one of `inserts`, `puts` and `deletes`. */
export interface Outcome {
  /** For each change the key that was not as expected, or undefined for those that take effect. */
  readonly conflicts: readonly (string | undefined)[];
  /** Keys that do not exist, with the value to insert; undefined for a key whose absence was relied on and that shall stay absent. */
  readonly inserts: ReadonlyMap<string, Uint8Array | undefined>;
  /** New values of keys that exist. */
  readonly puts: ReadonlyMap<string, Uint8Array>;
  readonly deletes: readonly string[];
  readonly changed: readonly string[];
}

/** Every key that the changes expect something of or write. */
export function keysOf(changes: readonly Change[]): string[] {
  const keys = new Set<string>();
  for (const change of changes) {
    for (const { key } of change.expect ?? []) keys.add(key);
    for (const { key } of change.put ?? []) keys.add(key);
    for (const key of change.delete ?? []) keys.add(key);
  }
  return [...keys];
}

/** Applies the changes one after the other, in memory. `found` holds the version of each key that exists, of those in `keysOf`. */
export function outcomeOf(changes: readonly Change[], found: ReadonlyMap<string, number>): Outcome {
  const versions = new Map(found);
  const written = new Map<string, Uint8Array | undefined>();
  const absent = new Set<string>();
  const changed: string[] = [];
  const conflicts = changes.map((change) => {
    for (const { key, version } of change.expect ?? []) if (versions.get(key) !== version) return key;
    for (const { key, version } of change.expect ?? []) if (version === undefined && !written.has(key)) absent.add(key);
    for (const key of change.delete ?? []) {
      versions.delete(key);
      written.set(key, undefined);
    }
    for (const { key, value } of change.put ?? []) {
      versions.set(key, FRESH);
      written.set(key, value);
    }
    changed.push(...(change.notify ?? []));
    return undefined;
  });
  const inserts = new Map<string, Uint8Array | undefined>([...absent].map((key) => [key, undefined]));
  const puts = new Map<string, Uint8Array>();
  const deletes: string[] = [];
  for (const [key, value] of written) {
    if (value) (found.has(key) ? puts : inserts).set(key, value);
    else if (found.has(key)) deletes.push(key);
  }
  return { conflicts, inserts, puts, deletes, changed };
}
