import type { ConsoleServer } from './console-server.ts';

/** An address, and for whom: `open` pages are for people without a session. */
export interface PageSample {
  readonly url: string;
  readonly open?: boolean;
}

/** An address for every page's pattern, in the house of `house.ts`. A page that has none fails the test of every page: add it here. */
export async function pageSamples(server: ConsoleServer): Promise<Readonly<Record<string, PageSample>>> {
  const [lease] = (await server.set('GET', 'sys/leases/expiring?prefix=db')).data.leases as { lease_id: string }[];
  const { data: entity } = await server.set('GET', 'identity/entity/name/ada');
  const { data: group } = await server.set('GET', 'identity/group/name/payments');
  const { data: own } = await server.set('GET', 'auth/token/lookup-self');
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
    '/kv': { url: '/kv' },
    '/kv/$mount/list/$': { url: '/kv/secret/list/shop' },
    '/kv/$mount/show/$': { url: '/kv/secret/show/shop/database' },
    '/kv/$mount/edit/$': { url: '/kv/secret/edit/shop/database' },
    '/kv/$mount/new/$': { url: '/kv/secret/new/shop' },
    '/kv/$mount/diff/$': { url: '/kv/secret/diff/shop/database?a=1&b=2' },
    '/kv/$mount/compare/$': { url: '/kv/secret/compare/shop/database?mount=secret&path=shop%2Fapi' },
    '/access/entities': { url: '/access/entities' },
    '/access/entities/$id': { url: `/access/entities/${String(entity.id)}` },
    '/access/groups': { url: '/access/groups' },
    '/access/groups/$id': { url: `/access/groups/${String(group.id)}` },
    '/access/merge': { url: `/access/merge?to=${String(entity.id)}` },
    '/access/new-password-policy': { url: '/access/new-password-policy' },
    '/access/new-policy': { url: '/access/new-policy' },
    '/access/new-token': { url: '/access/new-token' },
    '/access/password-policies': { url: '/access/password-policies' },
    '/access/password-policies/$name': { url: '/access/password-policies/long' },
    '/access/policies': { url: '/access/policies' },
    '/access/policies/$name': { url: '/access/policies/shop?line=2' },
    '/access/token-roles': { url: '/access/token-roles' },
    '/access/token-roles/$name': { url: '/access/token-roles/deploy' },
    '/access/tokens': { url: '/access/tokens' },
    '/access/tokens/$accessor': { url: `/access/tokens/${String(own.accessor)}` },
    '/access/try': { url: '/access/try?path=secret/data/shop/database&operation=read' },
    '/access/who': { url: '/access/who?path=secret/data/shop/database&operation=read' },
    '/leases': { url: '/leases' },
    '/leases/$first/$': { url: `/leases/${lease!.lease_id}` },
    '/login': { url: '/login', open: true },
    '/mounts': { url: '/mounts' },
    '/server/metrics': { url: '/server/metrics' },
    '/server/nodes': { url: '/server/nodes' },
    '/work': { url: '/work' },
    '/work/job': { url: '/work/job?mount=db/&kind=rotate-static-role&id=gone' },
    '/work/change/$id': { url: '/work/change/none' },
    '/tools/wrap': { url: '/tools/wrap' },
    '/tools/unwrap': { url: '/tools/unwrap' },
    '/tools/lookup': { url: '/tools/lookup' },
    '/tools/random': { url: '/tools/random' },
    '/tools/hash': { url: '/tools/hash' },
  };
}
