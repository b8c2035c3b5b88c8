import type { PutRequest } from '@strongroom/sync-sdk';

/** The key of a value that has none. */
const ONLY_KEY = 'value';

/**
 * The data of a secret as JSON. A whole secret keeps its types: its value is the JSON of its map, and goes out as it is. A single key has its text as its value.
 */
export function jsonData({ fields, value }: Pick<PutRequest, 'fields' | 'value'>): string {
  if (fields === undefined) return JSON.stringify({ [ONLY_KEY]: value });
  const texts = Object.values(fields);
  // No map is as short as the text of its only key.
  return texts.length === 1 && texts[0] === value ? JSON.stringify(fields) : value;
}
