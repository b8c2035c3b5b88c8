import { isSame, type Leaf } from './leaves.ts';

/** What became of one value between two versions. */
export interface Change {
  readonly path: readonly string[];
  readonly kind: 'added' | 'removed' | 'changed' | 'same';
  readonly before: Leaf | undefined;
  readonly after: Leaf | undefined;
}

const keyOf = ({ path }: Leaf): string => JSON.stringify(path);

/** Every value of both versions: those of the later one in their order, then those that are gone. */
export function changesBetween(before: readonly Leaf[], after: readonly Leaf[]): Change[] {
  const was = new Map(before.map((leaf) => [keyOf(leaf), leaf]));
  const changes: Change[] = after.map((leaf) => {
    const old = was.get(keyOf(leaf));
    was.delete(keyOf(leaf));
    const kind = !old ? 'added' : isSame(old.value, leaf.value) ? 'same' : 'changed';
    return { path: leaf.path, kind, before: old, after: leaf };
  });
  return [...changes, ...[...was.values()].map((leaf): Change => ({ path: leaf.path, kind: 'removed', before: leaf, after: undefined }))];
}

/** A value that two people changed, each in another way; undefined where one removed it. */
export interface Conflict {
  readonly path: readonly string[];
  readonly base: Leaf | undefined;
  readonly mine: Leaf | undefined;
  readonly theirs: Leaf | undefined;
}

/** Joins two changes of one version. What both changed differently is a conflict, and stands in `merged` as it is in theirs. */
export function mergeOf(base: readonly Leaf[], mine: readonly Leaf[], theirs: readonly Leaf[]): { merged: Leaf[]; conflicts: Conflict[] } {
  const bases = new Map(base.map((leaf) => [keyOf(leaf), leaf]));
  const ours = new Map(mine.map((leaf) => [keyOf(leaf), leaf]));
  const others = new Map(theirs.map((leaf) => [keyOf(leaf), leaf]));
  const conflicts: Conflict[] = [];
  const merged: Leaf[] = [];
  for (const key of new Set([...others.keys(), ...ours.keys(), ...bases.keys()])) {
    const [was, my, their] = [bases.get(key), ours.get(key), others.get(key)];
    const iChanged = !isSame(was?.value, my?.value);
    const theyChanged = !isSame(was?.value, their?.value);
    const kept = iChanged && !theyChanged ? my : their;
    if (kept) merged.push(kept);
    if (iChanged && theyChanged && !isSame(my?.value, their?.value)) {
      conflicts.push({ path: (my ?? their ?? was)!.path, base: was, mine: my, theirs: their });
    }
  }
  return { merged, conflicts };
}

/** The merge with one's own side of these conflicts. */
export function withMine(merged: readonly Leaf[], chosen: readonly Conflict[]): Leaf[] {
  const mine = new Map(chosen.map((conflict) => [JSON.stringify(conflict.path), conflict.mine]));
  const kept = merged.flatMap((leaf) => (mine.has(keyOf(leaf)) ? (mine.get(keyOf(leaf)) ?? []) : leaf));
  const known = new Set(merged.map(keyOf));
  return [...kept, ...[...mine].flatMap(([key, leaf]) => (known.has(key) || !leaf ? [] : leaf))];
}
