import { isRecord, type Json } from '../../api/exact-json.ts';

/** One value of a secret, at any depth. Lists, and objects without keys, are values as a whole. */
export interface Leaf {
  /** The keys that lead to it, from the outside in. */
  readonly path: readonly string[];
  readonly value: Json;
}

/** All values of a secret, in their order. */
export function leavesOf(data: Json, above: readonly string[] = []): Leaf[] {
  if (!isRecord(data)) return [];
  return Object.entries(data).flatMap(([key, value]) => {
    const path = [...above, key];
    return isRecord(value) && Object.keys(value).length > 0 ? leavesOf(value, path) : [{ path, value }];
  });
}

/** The object with these values: the inverse of `leavesOf`. @throws Error where a key is a value and has keys at once, or stands twice */
export function dataOf(leaves: readonly Leaf[], depth = 0): Record<string, Json> {
  const groups = new Map<string, Leaf[]>();
  for (const leaf of leaves) {
    const key = leaf.path[depth]!;
    const group = groups.get(key);
    if (group) group.push(leaf);
    else groups.set(key, [leaf]);
  }
  return Object.fromEntries(
    [...groups].map(([key, group]) => {
      const whole = group.filter(({ path }) => path.length === depth + 1);
      const name = pathText(group[0]!.path.slice(0, depth + 1));
      if (whole.length > 1) throw new Error(`The key ${name} stands twice.`);
      if (whole.length === 1 && group.length > 1) throw new Error(`The key ${name} has a value, and keys below it as well.`);
      return [key, whole[0] ? whole[0].value : dataOf(group, depth + 1)];
    }),
  );
}

/** The path as people read it: `db.password`; a key that a dot would hide in is quoted. */
export function pathText(path: readonly string[]): string {
  return path.map((key) => (/^[^."\s](?:[^."]*[^."\s])?$/u.test(key) ? key : JSON.stringify(key))).join('.');
}

/** A value as it is copied: a text as it is, everything else as JSON. */
export function valueText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Bytes of the value as it is copied. */
export function sizeOf(value: Json): number {
  return new TextEncoder().encode(valueText(value)).length;
}

export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
}

/** With the keys of all objects in one order. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key]!)]),
  );
}
