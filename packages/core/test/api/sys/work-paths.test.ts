import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import { Outside, testEngine } from '../../test-engine.ts';

interface Job {
  job: string;
  mount: string;
  id: string;
  noun: string;
  name: string;
  path: string;
  state: string;
  attempts: number;
  last_success: string | null;
  failing_since: string | null;
  system: { target: string; name: string; path: string };
  tries: { at: string; took_ms: number; message?: string; request_id?: string }[];
}

describe('work that is due, and what an operator does about it', () => {
  let outside: Outside;
  let mount: TestMount;

  const jobs = async (data: Record<string, unknown> = {}): Promise<Job[]> =>
    ((await mount.call('read', 'sys/schedule', { data: { mount: 'acc', ...data } })).data as { jobs: Job[] }).jobs;
  const tick = async (name: string, system = 'one'): Promise<unknown> => mount.write(`ticks/${name}`, { system, after: '1s' });

  beforeEach(async () => {
    outside = new Outside();
    mount = await mountForTest(testEngine(outside, { next: () => new Date(mount.clock.millis() + 3_600_000) }), { path: 'acc' });
  });
  afterEach(async () => mount.close());

  test('is listed by the names that operators know, a page at a time', async () => {
    for (const name of ['c', 'a', 'b']) await tick(name);
    const all = await jobs();
    expect(all).toMatchObject(
      ['a', 'b', 'c'].map((name) => ({
        mount: 'acc/',
        kind: 'tick',
        id: name,
        noun: 'clock',
        name,
        path: `acc/ticks/${name}`,
        system: { target: 'one', name: 'system one', path: 'acc/systems/one' },
        tries: [],
        failing_since: null,
      })),
    );
    expect(await jobs({ limit: 2 })).toEqual(all.slice(0, 2));
    expect(await jobs({ after: all[1]!.job, limit: 2 })).toEqual(all.slice(2));
    expect(await jobs({ mount: 'nowhere' })).toEqual([]);
  });

  test('that fails keeps its last tries, with the success that ends them', async () => {
    outside.failing.add('one');
    await tick('a');
    await tick('b', 'two');
    await mount.advance('2s');
    await mount.advance('1m');
    const [job, ...others] = await jobs({ failing: true });
    expect(others).toEqual([]);
    expect(job).toMatchObject({ name: 'a', state: 'failing' });
    expect(job!.tries.length).toBe(job!.attempts);
    expect(job!.tries.every(({ message }) => message === 'one is down')).toBe(true);
    expect(job!.failing_since).toBe(job!.tries[0]!.at);
    outside.failing.clear();
    await mount.advance('10m');
    expect(await jobs({ failing: true })).toEqual([]);
    const [mended, well] = await jobs();
    expect(mended).toMatchObject({ attempts: 0, failing_since: null, last_success: mended!.tries.at(-1)!.at });
    expect(mended!.tries.at(-1)).not.toHaveProperty('message');
    expect(well!.tries).toEqual([]);
  });

  test('keeps at most sixteen tries', async () => {
    outside.failing.add('one');
    await tick('a');
    for (let i = 0; i < 40; i += 1) await mount.advance('10m');
    const [job] = await jobs();
    expect(job!.attempts).toBeGreaterThan(16);
    expect(job!.tries).toHaveLength(16);
  });

  test('is run now, with the outcome for an answer', async () => {
    outside.failing.add('one');
    await tick('a');
    const [{ job }] = (await jobs()) as [Job];
    const failed = await mount.call('update', 'sys/schedule/run', { data: { job } });
    expect([failed.status, failed.errors?.join()]).toEqual([500, expect.stringContaining('one is down')]);
    expect((await jobs())[0]!.tries).toMatchObject([{ message: 'one is down', request_id: failed.requestId }]);
    outside.failing.clear();
    const ran = await mount.call('update', 'sys/schedule/run', { data: { job } });
    expect([ran.status, ran.data]).toMatchObject([200, { job: { name: 'a', state: 'waiting', attempts: 0 } }]);
    expect((await mount.call('update', 'sys/schedule/run', { data: { job: 'none/tick/a' } })).status).toBe(404);
    expect((await mount.call('update', 'sys/schedule/run', {})).status).toBe(400);
  });

  test('waits behind a circuit breaker that is listed, and that an operator closes', async () => {
    const circuits = async (): Promise<unknown> => ((await mount.call('read', 'sys/circuits')).data as { circuits: unknown }).circuits;
    expect(await circuits()).toEqual([]);
    outside.failing.add('one');
    for (let i = 0; i < 6; i += 1) await tick(`a${i}`);
    await mount.advance('2s');
    expect(await circuits()).toMatchObject([
      {
        mount: 'acc/',
        target: 'one',
        state: 'open',
        system: { name: 'system one' },
        since: expect.any(String),
        next_try: expect.any(String),
      },
    ]);
    outside.failing.clear();
    expect((await mount.call('update', 'sys/circuits/reset', { data: { mount: 'acc', target: 'one' } })).status).toBe(204);
    await mount.advance('1s');
    expect([await circuits(), await jobs({ failing: true })]).toEqual([[], []]);
    expect((await mount.call('update', 'sys/circuits/reset', { data: { mount: 'nowhere', target: 'one' } })).status).toBe(400);
  });
});

describe('tries', () => {
  test('are kept when the server starts again', async () => {
    const outside = new Outside();
    outside.failing.add('one');
    const storage = memoryStorage();
    const first = await mountForTest(testEngine(outside), { path: 'acc', storage });
    await first.write('ticks/a', { after: '1s' });
    await first.advance('2s');
    const jobsOf = async (mount: TestMount): Promise<Job[]> =>
      ((await mount.call('read', 'sys/schedule', { data: { mount: 'acc' } })).data as { jobs: Job[] }).jobs;
    const [before] = await jobsOf(first);
    expect(before!.tries).toHaveLength(1);
    const second = await mountForTest(testEngine(outside), { path: 'acc', storage, clock: first.clock });
    expect((await jobsOf(second))[0]!.tries[0]).toEqual(before!.tries[0]);
    await second.close();
    await first.close();
  });
});
