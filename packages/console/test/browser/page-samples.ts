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
    '/aws': { url: '/aws' },
    '/aws/$mount': { url: '/aws/aws' },
    '/aws/$mount/config': { url: '/aws/aws/config' },
    '/aws/$mount/roles/$name': { url: '/aws/aws/roles/reader' },
    '/aws/$mount/static/$name': { url: '/aws/aws/static/deployer' },
    '/aws/$mount/edit/$noun': { url: '/aws/aws/edit/roles' },
    '/database': { url: '/database' },
    '/database/$mount': { url: '/database/db?tab=failing' },
    '/database/$mount/connections/$name': { url: '/database/db/connections/prod' },
    '/database/$mount/roles/$name': { url: '/database/db/roles/reader' },
    '/database/$mount/static/$name': { url: '/database/db/static/gone' },
    '/database/$mount/orphans/$name': { url: '/database/db/orphans/prod' },
    '/database/$mount/edit/$noun': { url: '/database/db/edit/connections?name=prod' },
    '/leases': { url: '/leases' },
    '/leases/$first/$': { url: `/leases/${lease!.lease_id}` },
    '/login': { url: '/login', open: true },
    '/mounts': { url: '/mounts' },
  };
}
