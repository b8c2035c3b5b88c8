/** Sorted, lower-cased, each once; with `default` unless left out. */
export function policySet(names: readonly string[], noDefault = false): string[] {
  const set = new Set(names.map((name) => name.trim().toLowerCase()).filter((name) => name !== ''));
  if (!noDefault) set.add('default');
  return [...set].sort();
}
