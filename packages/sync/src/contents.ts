import type { Granularity } from '@strongroom/sync-sdk';

/** What should exist outside for a secret, by key; '' for the whole secret. */
export function contentsOf(data: Readonly<Record<string, unknown>>, granularity: Granularity): Map<string, string> {
  if (granularity === 'secret-path') return new Map([['', JSON.stringify(data)]]);
  return new Map(Object.entries(data).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]));
}

/** All that must not be shown of a value: itself, and every text in it where it is a JSON document. */
export function textsIn(value: string): string[] {
  const texts = [value];
  try {
    JSON.parse(value, (_key, part: unknown) => {
      if (typeof part === 'string') texts.push(part);
      return part;
    });
  } catch {
    // A text of its own.
  }
  return texts;
}
