import { isRecord } from '../json.ts';

/** A value as Go's `%v` writes it, since scripts already parse that after `-field`: `map[a:1]`, `[a b]`, `<nil>`. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`;
  if (isRecord(value)) {
    const keys = Object.keys(value).sort();
    return `map[${keys.map((key) => `${key}:${goValue(value[key])}`).join(' ')}]`;
  }
  return String(value);
}

/** A list of names as `["a" "b"]`. */
export function goList(names: readonly string[]): string {
  return `[${names.map((name) => JSON.stringify(name)).join(' ')}]`;
}

/** RFC 3339 as Go prints a time: `2026-11-21 09:14:35.157724878 +0000 UTC`. Other texts are returned unchanged. */
export function goTime(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d(?:\.\d+)?)Z$/.exec(text);
  return match === null ? text : `${match[1]} ${match[2]} +0000 UTC`;
}
