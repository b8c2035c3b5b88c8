import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { killableMount, manualClock, type KillableMount } from '@strongroom/engine-testkit';
import { startKubernetesApi, type KubernetesApi } from '@strongroom/lab';
import { configFor, engine, leftIn, READS_PODS } from './kubernetes-mount.ts';

jest.setTimeout(60_000);

/** Where a process dies: at a commit of the store that is not made, or at a call of the API server, before it or before its answer is there. */
type Death = readonly [where: 'commit' | 'before call' | 'after call', count: number, dies: boolean];

/** Seconds: shorter than the deadline of a call, which would end while the clock is moved. */
const STEP = 9;

/** One for each commit and call that an operation makes; the last of each kind comes too late. */
function deaths(commits: number, calls: number): Death[] {
  const each = (where: Death[0], most: number): Death[] => Array.from({ length: most + 1 }, (_, n) => [where, n, n < most]);
  return [...each('commit', commits), ...each('before call', calls), ...each('after call', calls)];
}

describe('a server that dies in the middle', () => {
  let api: KubernetesApi;
  let server: KillableMount;

  beforeEach(async () => {
    const clock = manualClock();
    api = await startKubernetesApi({ now: () => clock.millis() });
    server = await killableMount(engine, { clock });
    await done('update', 'kubernetes/config', configFor(api));
    await done('update', 'kubernetes/roles/pods', READS_PODS);
  });
  afterEach(async () => {
    server.storage.die();
    await api.stop();
  });

  const done = async (...call: Parameters<KillableMount['ask']>) => {
    const answer = await server.ask(...call);
    expect({ errors: answer.errors, failed: answer.status >= 400 }).toEqual({ errors: undefined, failed: false });
    return answer;
  };
  const create = async () => server.ask('update', 'kubernetes/creds/pods', { kubernetes_namespace: 'prod', ttl: '1h' });
  const leases = async (): Promise<string[]> => {
    const { data } = await server.ask('list', 'sys/leases/lookup/kubernetes/creds/pods');
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
      api.watch((_call, when) => {
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
    api.watch(() => undefined);
    expect(died).toBe(dies);
    return died;
  };

  test.each(deaths(2, 4))('while a credential is created, at %s %i: no object is left without a lease', async (...death) => {
    const died = await dieIn(death, create);
    const known = await leases();
    expect(known).toHaveLength(died ? 0 : 1);
    await server.pass(240, STEP);
    expect(leftIn(api)).toHaveLength(known.length * 3);
    expect((await server.ask('list', 'kubernetes/orphans')).status).toBe(404);
    await server.advance('1h');
    await server.pass(240, STEP);
    expect(leftIn(api)).toEqual([]);
  });

  test.each(deaths(2, 6))('while a lease is revoked, at %s %i: its objects go all the same', async (...death) => {
    const { leaseId } = await done('update', 'kubernetes/creds/pods', { kubernetes_namespace: 'prod', ttl: '1h' });
    await dieIn(death, async () => server.ask('update', 'sys/leases/revoke', { lease_id: leaseId, sync: true }));
    await server.pass(240, STEP);
    if ((await leases()).length === 0) expect(leftIn(api)).toEqual([]);
    await server.advance('1h');
    await server.pass(240, STEP);
    expect(leftIn(api)).toEqual([]);
    expect(await leases()).toEqual([]);
  });
});
