import type { Granularity } from '@strongroom/sync-sdk';

/** What should exist outside under one name. */
export interface Content {
  readonly value: string;
  /** The same by key. */
  readonly fields: Readonly<Record<string, string>>;
}

/** What should exist outside for a secret, by key; '' for the whole secret. */
export function contentsOf(data: Readonly<Record<string, unknown>>, granularity: Granularity): Map<string, Content> {
  const texts = Object.entries(data).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)] as const);
  if (granularity === 'secret-path') return new Map([['', { value: JSON.stringify(data), fields: Object.fromEntries(texts) }]]);
  return new Map(texts.map(([key, value]) => [key, { value, fields: { [key]: value } }]));
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
