import { isRecord, type JsonRecord } from '../json.ts';
import type { Output } from '../output.ts';
import type { Secret } from '../secret.ts';

/** A column of a table of records: its heading, and the text of a record; '' for none. */
export type Column = readonly [heading: string, cell: (record: JsonRecord) => unknown];

/** The objects of a list in an answer. */
export function recordsOf(value: unknown): JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** A text of a record; '' where it has none. */
export function textOf(record: unknown, ...keys: readonly string[]): string {
  let value = record;
  for (const key of keys) value = isRecord(value) ? value[key] : undefined;
  return value === undefined || value === null ? '' : String(value);
}

/** Prints records as a table with one row each, or `none` where there are no records. Programs get the whole answer. */
export async function showRecords(
  out: Output,
  secret: Secret | undefined,
  records: readonly JsonRecord[],
  columns: readonly Column[],
  none: string,
): Promise<void> {
  if (secret?.wrap_info !== undefined) return out.secret(secret);
  if (secret) out.warnings(secret);
  if (out.plain && records.length === 0) return out.line(none);
  await out.rows(
    columns.map(([heading]) => heading),
    records.map((record) => columns.map(([, cell]) => oneLine(String(cell(record) ?? '')))),
    secret?.data ?? {},
  );
}

/** A message of an outside system may have several lines; a row has one. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** `1 copy`, `2 copies`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
