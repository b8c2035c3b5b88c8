import type { Granularity } from '@strongroom/sync-sdk';

/** What should stand outside for a secret, by key; '' for the whole secret. */
export function contentsOf(data: Readonly<Record<string, unknown>>, granularity: Granularity): Map<string, string> {
  if (granularity === 'secret-path') return new Map([['', JSON.stringify(data)]]);
  return new Map(Object.entries(data).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]));
}
