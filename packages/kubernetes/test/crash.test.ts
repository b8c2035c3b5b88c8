import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { killableMount, manualClock, type KillableMount } from '@strongroom/engine-testkit';
import { describeOnClusters, type KubernetesCluster } from '@strongroom/lab';
import { configFor, engine, READS_PODS } from './kubernetes-mount.ts';
import { madeIn, sweep } from './made-objects.ts';

jest.setTimeout(60_000);

/** Where a process dies: at a commit of the store that is not made, or at a call of the API server, before it or before its answer is there. */
type Death = readonly [where: 'commit' | 'before call' | 'after call', count: number, dies: boolean];

/** Seconds: shorter than the deadline of a call, which would end while the clock is moved. */
const STEP = 9;

/** Calls that look for orphans: one for each kind of object. */
const LISTS = 5;

/** One for each commit and call that an operation makes; the last of each kind comes too late. */
function deaths(commits: number, calls: number): Death[] {
  const each = (where: Death[0], most: number): Death[] => Array.from({ length: most + 1 }, (_, n) => [where, n, n < most]);
  return [...each('commit', commits), ...each('before call', calls), ...each('after call', calls)];
}

/** The roles, what a credential of each is asked with, and how many objects it makes. */
const ROLES = {
  pods: { role: READS_PODS, wish: {}, objects: 3 },
  wide: {
    role: { allowed_kubernetes_namespaces: 'prod', kubernetes_role_name: 'view', kubernetes_role_type: 'ClusterRole' },
    wish: { cluster_role_binding: true },
    objects: 2,
  },
} as const;
type RoleName = keyof typeof ROLES;

describeOnClusters('a server that dies in the middle', (start) => {
  let cluster: KubernetesCluster;
  let server: KillableMount;

  beforeAll(async () => {
    cluster = await start();
  }, 120_000);
  afterAll(async () => cluster?.stop());
  beforeEach(async () => {
    server = await killableMount(engine, { clock: manualClock(new Date()) });
    await done('update', 'kubernetes/config', configFor(cluster));
    for (const [name, { role }] of Object.entries(ROLES)) await done('update', `kubernetes/roles/${name}`, role);
  });
  afterEach(async () => {
    cluster.watch(() => undefined);
    server.storage.die();
    await sweep(cluster);
  });

  const done = async (...call: Parameters<KillableMount['ask']>) => {
    const answer = await server.ask(...call);
    expect({ errors: answer.errors, failed: answer.status >= 400 }).toEqual({ errors: undefined, failed: false });
    return answer;
  };
  const create = async (role: RoleName) =>
    server.ask('update', `kubernetes/creds/${role}`, { kubernetes_namespace: 'prod', ttl: '1h', ...ROLES[role].wish });
  const leases = async (role: RoleName): Promise<string[]> => {
    const { data } = await server.ask('list', `sys/leases/lookup/kubernetes/creds/${role}`);
    return (data as { keys: string[] } | null)?.keys ?? [];
  };

  /** Carries out the work until it is through or its process has died, and starts the next process. */
  const dieIn = async ([where, count, dies]: Death, work: () => Promise<unknown>): Promise<boolean> => {
    let left = count;
    const dead = new Promise<true>((resolve) => {
      if (where === 'commit') {
        server.storage.dieAfter(count);
        void server.storage.noticed.then(() => resolve(true));
      }
      cluster.watch((_call, when) => {
        if (server.storage.dead) return 'silence';
        if (where !== `${when} call`) return undefined;
        left -= 1;
        if (left >= 0) return undefined;
        server.storage.die();
        resolve(true);
        return 'silence';
      });
    });
    const died = await Promise.race([dead, work().then(() => false)]);
    server.storage.die();
    server = await server.restart();
    cluster.watch(() => undefined);
    expect(died).toBe(dies);
    return died;
  };

  for (const role of ['pods', 'wide'] as const) {
    const { objects } = ROLES[role];
    const kind = role === 'pods' ? 'of generated rules' : 'that is bound in the whole cluster';

    // Each object, and the token.
    test.each(deaths(2, objects + 1))(
      `while a credential ${kind} is created, at %s %i: no object is left without a lease`,
      async (...death) => {
        const died = await dieIn(death, async () => create(role));
        const known = await leases(role);
        expect(known).toHaveLength(died ? 0 : 1);
        await server.pass(240, STEP);
        expect(await madeIn(cluster)).toHaveLength(known.length * objects);
        expect((await done('read', 'kubernetes/orphans')).data).toEqual({ usernames: [], accounts: [] });
        await server.advance('1h');
        await server.pass(240, STEP);
        expect(await madeIn(cluster)).toEqual([]);
      },
    );

    // Each object is looked at, and deleted.
    test.each(deaths(2, objects * 2))(`while a lease ${kind} is revoked, at %s %i: its objects go all the same`, async (...death) => {
      const { leaseId } = await create(role);
      expect(await madeIn(cluster)).toHaveLength(objects);
      await dieIn(death, async () => server.ask('update', 'sys/leases/revoke', { lease_id: leaseId, sync: true }));
      await server.pass(240, STEP);
      if ((await leases(role)).length === 0) expect(await madeIn(cluster)).toEqual([]);
      await server.advance('1h');
      await server.pass(240, STEP);
      expect(await madeIn(cluster)).toEqual([]);
      expect(await leases(role)).toEqual([]);
    });
  }

  test.each(deaths(3, LISTS + 6))('while an orphan is removed, at %s %i: it goes all the same', async (...death) => {
    await create('pods');
    cluster.watch(({ method }) => (method === 'DELETE' ? 403 : undefined));
    await done('update', 'sys/leases/revoke-force/kubernetes/creds');
    cluster.watch(() => undefined);
    await dieIn(death, async () => server.ask('update', 'kubernetes/orphans', { all: true }));
    await server.pass(240, STEP);
    const [where, count] = death;
    // Nothing is noted before the lists are there.
    if (where === 'commit' ? count === 0 : count < LISTS) await done('update', 'kubernetes/orphans', { all: true });
    expect(await madeIn(cluster)).toEqual([]);
    expect((await done('read', 'kubernetes/orphans')).data).toEqual({ usernames: [], accounts: [] });
  });
});
