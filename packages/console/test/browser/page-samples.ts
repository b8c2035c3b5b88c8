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
    '/ldap': { url: '/ldap' },
    '/ldap/$mount': { url: '/ldap/ldap' },
    '/ldap/$mount/config': { url: '/ldap/ldap/config' },
    '/ldap/$mount/static': { url: '/ldap/ldap/static' },
    '/ldap/$mount/static/$name': { url: '/ldap/ldap/static/billing' },
    '/ldap/$mount/dynamic': { url: '/ldap/ldap/dynamic' },
    '/ldap/$mount/dynamic/$name': { url: '/ldap/ldap/dynamic/report' },
    '/ldap/$mount/library': { url: '/ldap/ldap/library' },
    '/ldap/$mount/library/$set': { url: '/ldap/ldap/library/batch' },
    '/ldap/$mount/orphans': { url: '/ldap/ldap/orphans' },
    '/ldap/$mount/failing': { url: '/ldap/ldap/failing' },
    '/auth': { url: '/auth' },
    '/auth/$mount': { url: '/auth/ldap' },
    '/auth/$mount/config': { url: '/auth/approle/config' },
    '/auth/$mount/locked': { url: '/auth/userpass/locked' },
    '/auth/$mount/list/$noun': { url: '/auth/userpass/list/users' },
    '/auth/$mount/$noun/$': { url: '/auth/approle/role/ci' },
    '/mfa': { url: '/mfa' },
    '/mfa/method/$id': { url: '/mfa/method/new' },
    '/mfa/enforcement/$name': { url: '/mfa/enforcement/staff' },
    '/sync': { url: '/sync' },
    '/sync/$type/$name': { url: '/sync/aws-sm/prod' },
    '/sync/$type/$name/plan': { url: '/sync/aws-sm/prod/plan' },
    '/sync/$type/$name/link': { url: '/sync/aws-sm/prod/link' },
    '/sync/$type/$name/settings': { url: '/sync/aws-sm/prod/settings' },
    '/leases': { url: '/leases' },
    '/leases/$first/$': { url: `/leases/${lease!.lease_id}` },
    '/login': { url: '/login', open: true },
    '/mounts': { url: '/mounts' },
  };
}
