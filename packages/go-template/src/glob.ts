/**
 * Whether `value` matches `pattern`, in which every `*` stands for any number of any characters (also none, also `/`)
 * and all else for itself. This is the matching of `allowed_roles` and the like; the paths of policies have their own.
 * Takes time proportional to the product of the lengths at worst, whatever the pattern.
 */
export function globMatches(pattern: string, value: string): boolean {
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  const last = parts[parts.length - 1] ?? '';
  if (parts.length === 1) return value === pattern;
  if (!value.startsWith(first) || !value.endsWith(last)) return false;
  const end = value.length - last.length;
  let position = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = value.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return position <= end;
}
