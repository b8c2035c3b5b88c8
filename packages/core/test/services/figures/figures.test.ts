import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { manualClock, mountForTest, type ManualClock, type TestMount } from '@strongroom/engine-testkit';
import type { MountCounts } from '../../../src/index.ts';
import { Outside, testEngine } from '../../test-engine.ts';

interface Plotted {
  start: string;
  end: string;
  step: number;
  node: string;
  series: Record<string, (number | null)[]>;
}

describe('the figures of a server', () => {
  let outside: Outside;
  let clock: ManualClock;
  let mount: TestMount;

  beforeEach(async () => {
    outside = new Outside();
    clock = manualClock();
    // One clock for both, so that a sample is taken when the clock is moved.
    mount = await mountForTest(testEngine(outside), { path: 'acc', clock, liveness: { clock } });
    await mount.write('roles/r', { system: 'one', ttl: '1h', max_ttl: '2h' });
  });
  afterEach(async () => mount.close());

  const plotted = async (data: Record<string, unknown> = {}): Promise<Plotted> =>
    (await mount.call('read', 'sys/internal/ui/metrics', { data })).data as Plotted;
  const sum = (values: (number | null)[] | undefined): number => (values ?? []).reduce<number>((all, value) => all + (value ?? 0), 0);
  const last = (values: (number | null)[] | undefined): number | null | undefined => values?.filter((value) => value !== null).at(-1);
  const counts = (path: string): MountCounts => mount.core.mountCounts().find((one) => one.mount === path)!;
  const policyToken = async (policy: string): Promise<string> => {
    await mount.call('update', 'sys/policies/acl/p', { data: { policy } });
    const made = await mount.call('update', 'auth/token/create', { data: { policies: ['p'] } });
    return made.auth!.client_token;
  };

  test('count what every mount does, without a line of the engine', async () => {
    const first = await mount.read('creds/r');
    await mount.read('creds/r');
    await mount.call('update', 'sys/leases/renew', { data: { lease_id: first.leaseId } });
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: first.leaseId } });
    outside.failing.add('one');
    expect((await mount.call('update', 'sys/leases/revoke-prefix/acc')).status).toBeGreaterThanOrEqual(400);
    expect(counts('acc/')).toMatchObject({
      type: 'test',
      counted: { leases_issued: 2, leases_renewed: 1, leases_revoked: 1, revocations_failed: 1, rotations_ok: 0 },
    });
  });

  test('count jobs by kind and result, and breakers that open', async () => {
    await mount.write('ticks/a', { after: '5s' });
    outside.failing.add('one');
    await mount.advance('10s');
    outside.failing.clear();
    await mount.advance('10m');
    const { jobs } = counts('acc/');
    expect(jobs).toEqual({ tick: { ok: 1, failed: 1 } });
  });

  test('show the requests, the leases and the times of a minute', async () => {
    await mount.advance('10s');
    await mount.read('creds/r');
    await mount.call('read', 'acc/no/such');
    await mount.advance('20s');
    const { series, step, node } = await plotted();
    expect([step, node]).toEqual([10, expect.stringMatching(/^[\w-]{12}$/)]);
    expect(sum(series['requests_4xx'])).toBe(1);
    expect(sum(series['leases_issued'])).toBe(1);
    expect(last(series['leases'])).toBe(1);
    expect(last(series['resident_memory_bytes'])).toBeGreaterThan(1e7);
    expect(last(series['latency_p95_seconds'])).toBeGreaterThan(0);
    expect(Object.values(series).every((values) => values.length === series['leases']!.length)).toBe(true);
  });

  test('count the leases that live from the store, those of tokens left out, and keep the number up to date', async () => {
    await mount.read('creds/r');
    const { leaseId } = await mount.read('creds/r');
    await mount.call('update', 'auth/token/create', {});
    await mount.advance('20s');
    expect(counts('acc/').leases).toBe(2);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId } });
    expect(counts('acc/').leases).toBe(1);
    await mount.advance('11m');
    expect(counts('acc/').leases).toBe(1);
    await mount.advance('2h');
    await mount.advance('20s');
    expect(counts('acc/').leases).toBe(0);
  });

  test('refuse a step that is no multiple of ten seconds and a time that has not come, and name the field', async () => {
    for (const step of ['5s', '15s', '2d', '-10s', '0'])
      expect((await mount.call('read', 'sys/internal/ui/metrics', { data: { step } })).errors?.[0]).toMatch(/step/);
    const since = new Date(clock.millis() + 60_000).toISOString();
    expect(await mount.call('read', 'sys/internal/ui/metrics', { data: { since } })).toMatchObject({
      status: 400,
      errors: ['since: the time is in the future'],
    });
  });

  test('answer a day in at most 360 steps by default', async () => {
    await mount.advance('1m');
    const { series, step } = await plotted({ since: new Date(clock.millis() - 86_400_000).toISOString() });
    expect(step).toBe(240);
    expect(series['leases']!.length).toBeLessThanOrEqual(361);
  });

  test('are for those whose policies say so, and are not among what every token may read', async () => {
    const token = await policyToken('path "sys/internal/ui/metrics" { capabilities = ["read"] }');
    expect((await mount.call('read', 'sys/internal/ui/metrics', { token })).status).toBe(200);
    const plain = await mount.call('update', 'auth/token/create', { data: { policies: ['default'] } });
    expect((await mount.call('read', 'sys/internal/ui/metrics', { token: plain.auth!.client_token })).status).toBe(403);
  });

  test('a mount that goes takes its counters with it', async () => {
    await mount.read('creds/r');
    await mount.call('delete', 'sys/mounts/acc');
    await mount.advance('1s');
    expect(mount.core.mountCounts().some(({ mount: path }) => path === 'acc/')).toBe(false);
  });
});
