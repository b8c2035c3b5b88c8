import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatMark, OWNER_TAG, parseMark } from '@strongroom/sync-sdk';
import { manualClock } from '@strongroom/engine-testkit';
import { memoryDestination, MemoryProvider, type MemoryDestination } from '@strongroom/sync-testkit';
import { syncMount, type SyncMount } from './sync-mount.ts';

const ONE = 'sys/sync/destinations/memory/one';
const NOTHING = { additions: [], changes: [], foreign_edits: [], removals: [], conflicts: [], refused: [], orphans: [], total: 0 };

describe.each(['marked', 'recorded'] as const)('drift, where ownership is %s', (ownership) => {
  let sync: SyncMount;
  const start = async (): Promise<void> => {
    const clock = manualClock();
    sync = await syncMount({ ownership, now: () => clock.now(), mount: { clock } });
    for (const name of ['a', 'b', 'c']) {
      await sync.put(name, { v: name });
      await sync.set(name);
    }
    await sync.advance('1m');
    sync.provider.log.length = 0;
  };
  afterEach(async () => sync.close());

  const plan = async () => (await sync.ask('read', `${ONE}/plan`)).data;
  const reconcile = async (data = {}) => {
    const answer = await sync.ask('update', `${ONE}/reconcile`, data);
    await sync.advance('1s');
    return answer.data;
  };

  test('GET plan finds nothing when nothing differs, and POST reconcile writes nothing', async () => {
    await start();
    expect(await plan()).toEqual({ ...NOTHING, in_sync: 3 });
    expect(await reconcile()).toEqual({ queued: 0, orphans_removed: 0 });
    expect(sync.provider.log.every((call) => call.startsWith('list'))).toBe(true);
  });

  test('GET plan lists additions, changes and foreign edits, and changes nothing; POST reconcile repairs them', async () => {
    await start();
    await sync.provider.remove('app/a');
    await sync.provider.write('app/b', 'edited');
    await sync.ask('patch', 'sys/sync/config', { disabled: true });
    await sync.put('c', { v: 'new' });
    const item = (name: string, extra: object = {}) => ({ mount: 'kv', secret_name: name, remote_name: `app/${name}`, ...extra });
    expect(await plan()).toEqual({
      ...NOTHING,
      additions: [item('a')],
      foreign_edits: [item('b', { remote_version: 'r4' })],
      changes: [item('c', { remote_version: 'r3' })],
      total: 3,
      in_sync: 0,
    });
    expect(sync.provider.count('put')).toBe(0);
    await sync.ask('patch', 'sys/sync/config', { disabled: false });
    expect(await reconcile()).toEqual({ queued: 3, orphans_removed: 0 });
    expect(sync.provider.values()).toEqual({ 'app/a': '{"v":"a"}', 'app/b': '{"v":"b"}', 'app/c': '{"v":"new"}' });
    expect(await plan()).toEqual({ ...NOTHING, in_sync: 3 });
  });

  test('what GET plan found edited or missing outside needs a person, until it is repaired or the destination goes', async () => {
    await start();
    const drift = async () => {
      const { items } = (await sync.ask('read', 'sys/internal/ui/attention', { kind: 'drift' })).data as { items: object[] };
      return items;
    };
    await sync.provider.remove('app/a');
    await sync.provider.write('app/b', 'edited');
    expect(await drift()).toEqual([]);
    await plan();
    expect(await drift()).toMatchObject([
      {
        mount: 'sys/sync/',
        severity: 'notice',
        target: 'destination memory/one',
        message: '1 copy was edited outside, and 1 copy is missing outside; the plan lists them, and reconcile repairs them',
        things: [{ path: 'sys/sync/destinations/memory/one/plan', retry: null }],
      },
    ]);
    await sync.advance('1s');
    await reconcile();
    expect(await drift()).toEqual([]);
    await sync.provider.write('app/b', 'edited');
    await plan();
    expect(await drift()).toHaveLength(1);
    await sync.provider.write('app/c', 'edited');
    await plan();
    expect(await drift()).toMatchObject([{ message: expect.stringMatching(/^2 copies were edited outside;/) }]);
    await sync.ask('delete', ONE, { purge: true });
    await sync.advance('1h');
    expect(await drift()).toEqual([]);
  });

  test('GET plan lists removals that have not happened yet, and names that others took', async () => {
    await start();
    sync.provider.fail('failing', /^remove/);
    await sync.remove('a');
    await sync.provider.remove('app/b');
    await sync.advance('1h');
    await sync.provider.write('app/b', 'theirs');
    const found = (await plan()) as { removals: { remote_name: string }[]; conflicts: { remote_name: string }[] };
    expect(found.removals.map(({ remote_name }) => remote_name)).toEqual(['app/a']);
    expect(found.conflicts.map(({ remote_name }) => remote_name)).toEqual(['app/b']);
    sync.provider.heal();
    await reconcile();
    expect(sync.provider.values()).toEqual({ 'app/b': 'theirs', 'app/c': '{"v":"c"}' });
  });

  test('a periodic reconciliation repairs by itself, in reconcile_interval', async () => {
    await start();
    await sync.ask('patch', ONE, { reconcile_interval: '1h' });
    await sync.advance('1s');
    await sync.provider.write('app/a', 'edited');
    await sync.advance('30m');
    expect((await sync.provider.read('app/a'))?.value).toBe('edited');
    await sync.advance('31m');
    expect((await sync.provider.read('app/a'))?.value).toBe('{"v":"a"}');
    await sync.ask('patch', ONE, { reconcile_interval: 0 });
    await sync.advance('1s');
    await sync.provider.write('app/a', 'edited');
    await sync.advance('24h');
    expect((await sync.provider.read('app/a'))?.value).toBe('edited');
  });

  test('a provider that fails is a 5xx that names it, with its code and request id', async () => {
    await start();
    sync.provider.fail('failing');
    const { status, errors } = await sync.ask('read', `${ONE}/plan`);
    expect(status).toBe(500);
    expect(errors?.join()).toMatch(/the memory \(memory\/one\): it is down \(503, request id req-\d+\)/);
    sync.provider.heal();
    sync.provider.fail('throttled');
    expect((await sync.ask('update', `${ONE}/reconcile`)).status).toBe(502);
  });

  test('a copy that the list of the provider does not show yet is no difference, and is not written again', async () => {
    const provider = new MemoryProvider({ ownership });
    const plugin = memoryDestination(provider);
    const behind: MemoryDestination = {
      ...plugin,
      open: async (...args) => ({
        ...(await plugin.open(...args)),
        async *list() {
          // Nothing yet.
        },
      }),
    };
    sync = await syncMount({ provider, destination: behind });
    await sync.put('web', { a: '1' });
    await sync.set('web');
    expect((await sync.ask('read', `${ONE}/plan`)).data).toMatchObject({ total: 0, in_sync: 1 });
    await sync.ask('update', `${ONE}/reconcile`);
    await sync.advance('1m');
    expect(provider.count('put')).toBe(1);
    await provider.remove('app/web');
    expect((await sync.ask('read', `${ONE}/plan`)).data).toMatchObject({ total: 1, additions: [{ remote_name: 'app/web' }] });
  });

  test('a destination that is not there is a 404', async () => {
    await start();
    expect((await sync.ask('read', 'sys/sync/destinations/memory/none/plan')).status).toBe(404);
    expect((await sync.ask('update', 'sys/sync/destinations/memory/none/reconcile')).status).toBe(404);
  });
});

describe('orphans', () => {
  test('are secrets with our mark that no association has: listed by plan, removed by reconcile only with remove_orphans', async () => {
    const sync = await syncMount();
    await sync.put('a', { v: 'a' });
    await sync.set('a');
    const mark = parseMark(sync.provider.secrets.get('app/a')!.tags[OWNER_TAG])!;
    const tags = (destination: string) => ({ [OWNER_TAG]: formatMark({ ...mark, destination }) });
    sync.provider.put('app/orphan', 'left behind', tags(mark.destination), true);
    sync.provider.put('app/rival', 'of another', tags('f'.repeat(24)), true);
    await sync.provider.write('app/foreign', 'theirs');
    expect((await sync.ask('read', `${ONE}/plan`)).data).toEqual({
      ...NOTHING,
      orphans: [{ remote_name: 'app/orphan', remote_version: 'r2' }],
      total: 1,
      in_sync: 1,
    });
    expect((await sync.ask('update', `${ONE}/reconcile`)).data).toEqual({ queued: 0, orphans_removed: 0 });
    expect(Object.keys(sync.provider.values())).toHaveLength(4);
    expect((await sync.ask('update', `${ONE}/reconcile`, { remove_orphans: true })).data).toEqual({ queued: 0, orphans_removed: 1 });
    expect(Object.keys(sync.provider.values())).toEqual(['app/a', 'app/rival', 'app/foreign']);
    await sync.close();
  });

  test('stay while syncing is disabled: POST reconcile with remove_orphans is a 400 that names disabled', async () => {
    const sync = await syncMount();
    await sync.put('a', { v: 'a' });
    await sync.set('a');
    const mark = parseMark(sync.provider.secrets.get('app/a')!.tags[OWNER_TAG])!;
    sync.provider.put('app/orphan', 'left behind', { [OWNER_TAG]: formatMark({ ...mark, association: 'e'.repeat(24) }) }, true);
    await sync.ask('patch', 'sys/sync/config', { disabled: true });
    const { status, errors } = await sync.ask('update', `${ONE}/reconcile`, { remove_orphans: true });
    expect([status, errors?.join()]).toEqual([400, expect.stringContaining('disabled')]);
    expect((await sync.ask('update', `${ONE}/reconcile`)).data).toEqual({ queued: 0, orphans_removed: 0 });
    expect(Object.keys(sync.provider.values())).toEqual(['app/a', 'app/orphan']);
    await sync.ask('patch', 'sys/sync/config', { disabled: false });
    expect((await sync.ask('update', `${ONE}/reconcile`, { remove_orphans: true })).data).toEqual({ queued: 0, orphans_removed: 1 });
    await sync.close();
  });

  describe('that become somebody’s between the list and their removal', () => {
    let sync: SyncMount;
    beforeEach(async () => {
      sync = await syncMount();
      await sync.put('a', { v: 'a' });
      await sync.set('a');
      const mark = parseMark(sync.provider.secrets.get('app/a')!.tags[OWNER_TAG])!;
      sync.provider.put('app/late', 'left behind', { [OWNER_TAG]: formatMark({ ...mark, association: 'e'.repeat(24) }) }, true);
      await sync.put('late', { v: 'late' });
    });
    afterEach(async () => sync.close());

    /** Links the secret whose name the orphan has, in the middle of a call. */
    const linkedDuring = (at: string, moment: 'before' | 'after'): void => {
      sync.provider.hook = async (call, when) => {
        if (call !== at || when !== moment) return;
        sync.provider.hook = undefined;
        await sync.set('late');
      };
    };

    test.each([
      ['read app/late', 'before'],
      ['read app/late', 'after'],
      ['remove app/late', 'before'],
    ] as const)('POST reconcile with remove_orphans does not take a copy away that is linked during %s (%s)', async (at, moment) => {
      await sync.ask('patch', ONE, { on_conflict: 'overwrite' });
      await sync.advance('1s');
      linkedDuring(at, moment);
      const { data } = await sync.ask('update', `${ONE}/reconcile`, { remove_orphans: true });
      expect(data).toEqual({ queued: 0, orphans_removed: 0 });
      await sync.advance('1m');
      expect(sync.provider.values()).toEqual({ 'app/a': '{"v":"a"}', 'app/late': '{"v":"late"}' });
      expect((await sync.associations()).map(({ sync_status }) => sync_status)).toEqual(['SYNCED', 'SYNCED']);
    });
  });
});
