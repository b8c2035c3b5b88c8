import { describe, expect, test } from '@jest/globals';
import { MemoryView, mountForTest } from '@strongroom/engine-testkit';
import { kvEngine } from '../src/index.ts';
import { engineFixture, openFixture, type EngineFixture } from './engine-fixture.ts';

const UPGRADING = /^Upgrading from non-versioned to versioned data\./;
const run = async (fixture: EngineFixture): Promise<Date | undefined> =>
  fixture.engine.schedules?.[0]?.run({}, fixture.view, new AbortController().signal, { id: 'format', due: new Date(), attempt: 1 });

/** A mount of version 1 with that many secrets. */
async function plain(count: number): Promise<EngineFixture> {
  const fixture = await openFixture('1');
  for (let i = 0; i < count; i += 1) await fixture.call('update', `dir${i % 7}/s${i}`, { i });
  return fixture;
}

async function expectAll(fixture: EngineFixture, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const found = await fixture.call('read', `data/dir${i % 7}/s${i}`);
    expect(found).toMatchObject({ data: { data: { i }, metadata: { version: 1, deletion_time: '', destroyed: false } } });
  }
  expect(fixture.view.store.dump()).not.toContain('v1/');
  expect(fixture.view.store.jobs.size).toBe(0);
}

/** Lets what goes on behind the requests come to its end. */
async function settled(fixture: EngineFixture): Promise<void> {
  for (let i = 0; i < 20_000; i += 1) {
    const answer = await fixture.call('read', 'config').catch((error: unknown) => error as Error);
    if (!(answer instanceof Error)) return;
    expect(answer.message).toMatch(UPGRADING);
  }
  throw new Error('the upgrade does not end');
}

describe('tuning a mount to version 2', () => {
  test('turns its secrets into first versions', async () => {
    const mount = await mountForTest(kvEngine);
    await mount.write('a/b', { x: 1, ttl: '1h' });
    await mount.write('data/c', { y: 'z'.repeat(20_000) });
    const tuned = await mount.call('update', 'sys/mounts/kv/tune', { data: { options: { version: '2' } } });
    expect(tuned.status).toBe(200);
    expect(tuned.warnings?.[0]).toMatch(/^Upgrading mount from version/);
    expect((await mount.read('data/a/b')).data).toMatchObject({ data: { x: 1, ttl: '1h' }, metadata: { version: 1 } });
    expect((await mount.read('data/data/c')).data).toMatchObject({ metadata: { version: 1 } });
    expect((await mount.list('metadata/')).data).toEqual({ keys: ['a/', 'data/'] });
    expect((await mount.write('data/a/b', { data: { x: 2 }, options: { cas: 1 } })).data).toMatchObject({ version: 2 });
    expect((await mount.call('read', 'kv/a/b')).warnings).toHaveLength(1);
    await mount.close();
  });

  test('warns of a misspelt option, which leaves it at version 1', async () => {
    const mount = await mountForTest(kvEngine);
    const misspelt = { options: { verison: '2' } };
    const warnings = [
      'Endpoint ignored these unrecognized parameters: [options.verison]',
      'options.verison is not a field here; did you mean options.version?',
    ];
    expect(await mount.call('update', 'sys/mounts/kv/tune', { data: misspelt })).toMatchObject({ status: 200, warnings });
    // It is stored now: who tunes something else need not hear of it again.
    expect((await mount.call('update', 'sys/mounts/kv/tune', { data: { description: 'x' } })).status).toBe(204);
    expect(await mount.call('update', 'sys/mounts/other', { data: { type: 'kv', ...misspelt } })).toMatchObject({ status: 200, warnings });
    expect((await mount.call('update', 'sys/mounts/third', { data: { type: 'kv', options: { version: '2' } } })).status).toBe(204);
    await mount.close();
  });

  test('works for an empty mount', async () => {
    const mount = await mountForTest(kvEngine, { options: { version: '1' } });
    await mount.call('update', 'sys/mounts/kv/tune', { data: { options: { version: '2' } } });
    expect((await mount.write('data/a', { data: {} })).status).toBe(200);
    await mount.close();
  });

  test('and back is refused, and changes nothing', async () => {
    const mount = await mountForTest(kvEngine, { options: { version: '2' } });
    await mount.write('data/a', { data: { x: 1 } });
    for (const version of ['1', '', '3']) {
      const answer = await mount.call('update', 'sys/mounts/kv/tune', { data: { options: { version } } });
      expect(answer.status).toBe(400);
      if (version !== '3') expect(answer.errors).toEqual(['cannot downgrade mount from version 2']);
    }
    const options = (await mount.call('read', 'sys/mounts/kv')).data as { options: unknown };
    expect(options.options).toEqual({ version: '2' });
    expect((await mount.read('data/a')).data).toMatchObject({ data: { x: 1 } });
    await mount.close();
  });

  test('of other values leaves the version alone', async () => {
    const mount = await mountForTest(kvEngine, { options: { version: '2' } });
    await mount.write('data/a', { data: { x: 1 } });
    expect((await mount.call('update', 'sys/mounts/kv/tune', { data: { default_lease_ttl: '1h' } })).status).toBe(204);
    expect((await mount.read('data/a')).status).toBe(200);
    await mount.close();
  });
});

describe('during the upgrade', () => {
  test('every call says so, and the upgrade comes to its end by itself', async () => {
    const count = 700;
    const fixture = await plain(count);
    fixture.options['version'] = '2';
    await fixture.engine.tuned?.();
    for (const [operation, path, data] of [
      ['read', 'data/dir0/s0', {}],
      ['update', 'data/x', { data: {} }],
      ['list', 'metadata/', {}],
      ['delete', 'metadata/x', {}],
      ['read', 'config', {}],
      ['update', 'destroy/x', { versions: [1] }],
    ] as const) {
      await expect(fixture.call(operation, path, data)).rejects.toThrow(UPGRADING);
    }
    await settled(fixture);
    await expectAll(fixture, count);
  });

  test('a process that does not know of it yet neither writes nor reads past it', async () => {
    const stale = await plain(3);
    const fixture = engineFixture('2', new MemoryView(stale.view.store));
    await fixture.engine.initialize?.();
    const path = stale.engine.paths;
    await expect(stale.call('update', 'new', { late: 1 })).rejects.toThrow(UPGRADING);
    expect(stale.engine.paths).not.toBe(path);
    expect(await stale.call('read', 'data/dir0/s0')).toMatchObject({ data: { data: { i: 0 } } });
    const another = await plain(3);
    await engineFixture('2', new MemoryView(another.view.store)).engine.initialize?.();
    await expect(another.call('read', 'dir0/s0')).rejects.toThrow(UPGRADING);
  });

  test('a write of version 1 that is under way either is upgraded or fails', async () => {
    for (let round = 0; round < 10; round += 1) {
      const writer = await plain(1);
      const upgrading = engineFixture('2', new MemoryView(writer.view.store));
      const writes = Array.from({ length: 20 }, async (_, i) => {
        for (let turn = 0; turn < i; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        return writer.call('update', `late${i}`, { i }).then(
          () => i,
          () => undefined,
        );
      });
      await upgrading.engine.initialize?.();
      const stored = (await Promise.all(writes)).filter((i) => i !== undefined);
      await settled(upgrading);
      for (const i of stored) expect(await upgrading.call('read', `data/late${i}`)).toMatchObject({ data: { data: { i } } });
      expect((await upgrading.call('list', 'metadata/'))?.data).toEqual({ keys: ['dir0/', ...stored.map((i) => `late${i}`).sort()] });
    }
  });
});

describe('an upgrade that was cut short', () => {
  test.each([0, 1, 2, 50, 256, 299, 300, 301])('after %i commits is finished at the next start', async (commits) => {
    const count = 300;
    const first = await plain(count);
    first.options['version'] = '2';
    first.view.commitsLeft = commits;
    await Promise.resolve(first.engine.tuned?.()).catch(() => undefined);
    await first.engine.close?.();
    const second = engineFixture('2', new MemoryView(first.view.store));
    await second.engine.initialize?.();
    await settled(second);
    await expectAll(second, count);
  });

  test('by a fault of the store is taken up by the scheduled job', async () => {
    const count = 300;
    const fixture = await plain(count);
    fixture.options['version'] = '2';
    fixture.view.commitsLeft = 270;
    await fixture.engine.tuned?.();
    while (fixture.view.commitsLeft > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(fixture.view.store.jobs.has('format')).toBe(true);
    await expect(fixture.call('read', 'config')).rejects.toThrow(UPGRADING);
    await expect(run(fixture)).rejects.toThrow('the store is gone');
    fixture.view.commitsLeft = Infinity;
    expect(await run(fixture)).toBeUndefined();
    await expectAll(fixture, count);
  });

  test('may be finished by several processes at once', async () => {
    const count = 400;
    const first = await plain(count);
    const others = [1, 2, 3].map(() => engineFixture('2', new MemoryView(first.view.store)));
    await Promise.all(others.map(async (other) => other.engine.initialize?.()));
    for (const other of others) {
      await settled(other);
      await expectAll(other, count);
    }
  });
});

describe('a restart', () => {
  test('of a finished mount costs one read and no write', async () => {
    const first = await openFixture('2');
    const view = new MemoryView(first.view.store);
    await openFixture('2', view);
    expect([view.reads + view.transactionReads, view.commits]).toEqual([1, 0]);
  });

  test('with options that lost the version still reads versioned data', async () => {
    const first = await openFixture('2');
    await first.call('update', 'data/a', { data: { x: 1 } });
    const second = await openFixture('1', new MemoryView(first.view.store));
    expect(await second.call('read', 'data/a')).toMatchObject({ data: { data: { x: 1 } } });
    await expect(second.engine.tuned?.()).rejects.toThrow('cannot downgrade mount from version 2');
  });
});
