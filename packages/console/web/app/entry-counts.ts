import type { AttentionItem } from '../api/work.ts';

const OF_KIND: Partial<Readonly<Record<AttentionItem['kind'], string>>> = {
  ...{ lease: '/leases', sync: '/sync', drift: '/sync', mount: '/mounts', token: '/access/policies' },
  ...{ job: '/work', circuit: '/work', journal: '/work', removal: '/work', late: '/work' },
  ...{ audit: '/server', node: '/server', plugin: '/server' },
};
const OF_TYPE: Readonly<Record<string, string>> = { database: '/database', ldap: '/ldap', aws: '/aws' };

/** How many causes need a person, by the address of the entry that leads to them; an entry without any is absent. */
export function countsOf(items: readonly Pick<AttentionItem, 'kind' | 'mount_type'>[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { kind, mount_type } of items) {
    const ofMount = mount_type !== null && Object.hasOwn(OF_TYPE, mount_type) ? OF_TYPE[mount_type] : undefined;
    const entry = kind === 'rotation' || kind === 'circuit' ? (ofMount ?? '/work') : OF_KIND[kind];
    if (entry !== undefined) counts.set(entry, (counts.get(entry) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}
