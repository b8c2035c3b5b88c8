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
    '/leases': { url: '/leases' },
    '/leases/$first/$': { url: `/leases/${lease!.lease_id}` },
    '/login': { url: '/login', open: true },
    '/login/callback': { url: '/login/callback', open: true },
    '/vault/auth/$': { url: '/vault/auth/oidc/oidc/callback', open: true },
    '/init': { url: '/init', open: true },
    '/unseal': { url: '/unseal', open: true },
    '/mounts': { url: '/mounts' },
    '/server': { url: '/server' },
    '/server/seal': { url: '/server/seal' },
    '/server/audit': { url: '/server/audit' },
    '/server/plugins': { url: '/server/plugins' },
    '/server/log-levels': { url: '/server/log-levels' },
    '/server/config': { url: '/server/config' },
  };
}
