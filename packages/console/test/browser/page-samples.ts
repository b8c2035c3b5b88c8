import type { ConsoleServer } from './console-server.ts';

/** An address, and for whom: `open` pages are for people without a session. */
export interface PageSample {
  readonly url: string;
  readonly open?: boolean;
}

/** An address for every page's pattern, in the house of `house.ts`. A page that has none fails the test of every page: add it here. */
export async function pageSamples(server: ConsoleServer): Promise<Readonly<Record<string, PageSample>>> {
  const [lease] = (await server.set('GET', 'sys/leases/expiring?prefix=db')).data.leases as { lease_id: string }[];
  return {
    '/': { url: '/' },
    '/kv': { url: '/kv' },
    '/kv/$mount/list/$': { url: '/kv/secret/list/shop' },
    '/kv/$mount/show/$': { url: '/kv/secret/show/shop/database' },
    '/kv/$mount/edit/$': { url: '/kv/secret/edit/shop/database' },
    '/kv/$mount/new/$': { url: '/kv/secret/new/shop' },
    '/kv/$mount/diff/$': { url: '/kv/secret/diff/shop/database?a=1&b=2' },
    '/kv/$mount/compare/$': { url: '/kv/secret/compare/shop/database?mount=secret&path=shop%2Fapi' },
    '/leases': { url: '/leases' },
    '/leases/$first/$': { url: `/leases/${lease!.lease_id}` },
    '/login': { url: '/login', open: true },
    '/mounts': { url: '/mounts' },
    '/tools/wrap': { url: '/tools/wrap' },
    '/tools/unwrap': { url: '/tools/unwrap' },
    '/tools/lookup': { url: '/tools/lookup' },
    '/tools/random': { url: '/tools/random' },
    '/tools/hash': { url: '/tools/hash' },
  };
}
