import { useRead } from '../api/queries.ts';
import type { Attention } from '../api/work.ts';
import { countsOf } from './entry-counts.ts';

/** Milliseconds between two looks. */
const EVERY = 30_000;
/** So many causes are read. */
const MOST = 100;

/** How many causes need a person, by the entry on the left that leads to them. */
export function useEntryCounts(): Readonly<Record<string, number>> {
  const { data } = useRead<Attention>('sys/internal/ui/attention', { query: { limit: MOST }, every: EVERY });
  return countsOf(data?.data.items ?? []);
}
