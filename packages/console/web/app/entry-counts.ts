import { useRead } from '../api/queries.ts';
import type { Attention, AttentionItem } from '../api/work.ts';

/** Milliseconds between two looks. */
const EVERY = 30_000;
/** So many causes are read. */
const MOST = 100;

const OF_KIND: Partial<Readonly<Record<AttentionItem['kind'], string>>> = {
  ...{ lease: '/leases', sync: '/sync', drift: '/sync', mount: '/mounts', token: '/access/policies' },
  ...{ job: '/work', circuit: '/work', journal: '/work', removal: '/work', late: '/work' },
  ...{ audit: '/server', node: '/server', plugin: '/server' },
};
const OF_TYPE: Readonly<Record<string, string>> = { database: '/database', ldap: '/ldap', aws: '/aws' };

/** How many causes need a person, by the entry on the left that leads to them. */
export function useEntryCounts(): Readonly<Record<string, number>> {
  const { data } = useRead<Attention>('sys/internal/ui/attention', { query: { limit: MOST }, every: EVERY });
  return countsOf(data?.data.items ?? []);
}

/** @returns by the address of the entry; an entry without anything is absent */
export function countsOf(items: readonly Pick<AttentionItem, 'kind' | 'mount_type'>[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { kind, mount_type } of items) {
    const ofMount = mount_type !== null && Object.hasOwn(OF_TYPE, mount_type) ? OF_TYPE[mount_type] : undefined;
    const entry = kind === 'rotation' || kind === 'circuit' ? (ofMount ?? '/work') : OF_KIND[kind];
    if (entry !== undefined) counts.set(entry, (counts.get(entry) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}
