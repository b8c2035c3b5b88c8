/** The value that a record has under a key of somebody else's choosing: what its prototype has does not count. */
export function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}
