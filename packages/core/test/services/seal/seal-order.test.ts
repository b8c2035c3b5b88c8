import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { EngineHost } from '@strongroom/engine-sdk';
import { manualClock, mountForTest, sharedMemory, type ManualClock, type TestMount } from '@strongroom/engine-testkit';
import { Type } from 'typebox';
import { Outside, testEngine } from '../../test-engine.ts';

const Note = Type.Object({ text: Type.String() });
const never = async (): Promise<void> => new Promise<void>(() => undefined);

describe('engines that do not end', () => {
  let outside: Outside;
  let clock: ManualClock;
  let store: ReturnType<typeof sharedMemory>;
  let hooks: NonNullable<Parameters<typeof testEngine>[1]>;
  let mount: TestMount;
  const open: TestMount[] = [];

  const start = async (): Promise<TestMount> => {
    const started = await mountForTest(testEngine(outside, hooks), { storage: store.open(), path: 'acc', clock });
    open.push(started);
    return started;
  };
  /** Whether the work has ended by now. */
  const ended = async (work: Promise<unknown>): Promise<boolean> => {
    let done = false;
    void work.then(
      () => (done = true),
      () => (done = true),
    );
    await clock.advance(0);
    await clock.advance(0);
    return done;
  };

  beforeEach(async () => {
    outside = new Outside();
    clock = manualClock();
    store = sharedMemory();
    hooks = {};
    mount = await start();
    await mount.write('roles/r', { ttl: '1h' });
  });
  afterEach(async () => {
    hooks.close = async () => undefined;
    outside.hanging.clear();
    for (const each of open.splice(0)) {
      const closing = each.close();
      await clock.advance('1m');
      await clock.advance('1m');
      await closing;
    }
  });

  test('the keys are forgotten before any engine is closed, and an engine whose close never ends does not keep them', async () => {
    hooks.close = never;
    const sealing = mount.core.seal();
    expect(mount.core.sealed).toBe(true);
    expect((await mount.call('read', 'acc/roles/r')).errors).toEqual(['Vault is sealed']);
    expect(await ended(sealing)).toBe(false);
    await clock.advance('10s');
    await sealing;
    hooks.close = async () => undefined;
    expect(await mount.core.openAutomatically()).toBe(true);
    expect((await mount.read('roles/r')).data).toMatchObject({ system: 'one' });
  });

  test('what an engine stores at its close is refused, as the keys are gone by then', async () => {
    let told: unknown;
    hooks.close = async (host: EngineHost) => {
      told = await host.storage
        .collection('note/', Note)
        .put('a', { text: 'late' })
        .catch((error: unknown) => error);
    };
    await mount.core.seal();
    expect(String(told)).toContain('Vault is sealed');
  });

  test('code of an engine that goes on after the seal can neither read, write nor delete, also after the next unsealing', async () => {
    let host!: EngineHost;
    hooks.tuned = async (given) => {
      host = given;
    };
    await mount.call('update', 'sys/mounts/acc/tune', { data: { description: 'x' } });
    const notes = host.storage.collection('note/', Note);
    await notes.put('a', { text: 'ours' });
    let goOn!: () => void;
    const slow = new Promise<void>((resolve) => (goOn = resolve));
    const late = host.storage.transaction(async (tx) => {
      await tx.collection('note/', Note).delete('a');
      await slow;
    });
    late.catch(() => undefined);
    const work = [
      async () => notes.get('a'),
      async () => notes.list(),
      async () => notes.has('a'),
      async () => notes.put('a', { text: 'late' }),
      async () => notes.delete('a'),
      async () => host.storage.transaction(async (tx) => tx.collection('note/', Note).delete('a')),
    ];
    const answers = async (): Promise<unknown[]> =>
      Promise.all(
        work.map(async (each) => each().catch((error: unknown) => [(error as { status: number }).status, (error as Error).message])),
      );
    await mount.core.seal();
    expect(await answers()).toEqual(work.map(() => [503, 'Vault is sealed']));
    await mount.core.openAutomatically();
    expect(await answers()).toEqual(work.map(() => [503, 'Vault is sealed']));
    goOn();
    await expect(late).rejects.toThrow('Vault is sealed');
    const keys = (await store.open().range({ keysOnly: true })).map(({ key }) => key);
    expect(keys.filter((key) => key.endsWith('note/a'))).toHaveLength(1);
  });

  test('scheduled work is asked to end, and the seal does not wait for work that does not', async () => {
    await mount.write('ticks/a', { after: '1s' });
    let ran = 0;
    hooks.next = () => {
      ran += 1;
      return undefined;
    };
    outside.hanging.add('one');
    await clock.advance('2s');
    expect(outside.log).toContain('tick a');
    await mount.core.seal();
    outside.hanging.clear();
    await mount.core.openAutomatically();
    await mount.advance('2m');
    expect(ran).toBe(1);
  });

  test('an orderly stop gives scheduled work a moment to store how far it came', async () => {
    await mount.write('ticks/a', { after: '1s' });
    outside.hanging.add('one');
    await clock.advance('2s');
    await mount.close();
    outside.hanging.clear();
    const next = await start();
    // Not after the claim of the process before has run out.
    await next.advance('1s');
    expect(outside.count('tick a')).toBe(2);
  });

  test('a stop ends within its time whatever an engine holds open', async () => {
    hooks.close = never;
    const closing = mount.close();
    await clock.advance(0);
    await clock.advance('20s');
    await closing;
  });

  test('the table of mounts waits for no engine: neither for its close at a reload or an unmount, nor for new settings', async () => {
    await mount.call('update', 'sys/mounts/going', { data: { type: 'test' } });
    hooks.close = never;
    hooks.tuned = never;
    const slow = [
      mount.call('update', 'sys/plugins/reload/backend', { data: { mounts: 'acc/' } }),
      mount.call('delete', 'sys/mounts/going'),
      mount.call('update', 'sys/mounts/acc/tune', { data: { description: 'new' } }),
    ];
    await clock.advance(0);
    expect(await ended(Promise.race(slow))).toBe(false);
    expect((await mount.call('update', 'sys/mounts/other', { data: { type: 'test' } })).status).toBe(204);
    await clock.advance('11s');
    await clock.advance('31s');
    const statuses = (await Promise.all(slow)).map(({ status }) => status);
    expect(statuses.slice(0, 2)).toEqual([200, 204]);
    expect(statuses[2]).toBeGreaterThanOrEqual(500);
    expect((await mount.call('read', 'sys/mounts/acc')).data).toMatchObject({ description: 'new' });
  });

  test('the engine before a reload can no longer write into the mount of the one after', async () => {
    let before!: EngineHost;
    hooks.tuned = async (given) => {
      before = given;
    };
    await mount.call('update', 'sys/mounts/acc/tune', { data: { description: 'x' } });
    await mount.call('update', 'sys/plugins/reload/backend', { data: { mounts: 'acc/' } });
    await expect(before.storage.collection('note/', Note).put('a', { text: 'late' })).rejects.toThrow(
      'this engine of the mount acc/ was stopped',
    );
    expect((await mount.call('read', 'acc/roles/r')).status).toBe(200);
  });

  test('a move whose leases hang does not keep other mounts from being changed', async () => {
    await mount.read('creds/r');
    outside.hanging.add('one');
    const moving = mount.call('update', 'sys/remount', { data: { from: 'acc', to: 'b' } });
    await clock.advance(0);
    expect((await mount.call('update', 'sys/mounts/other', { data: { type: 'test' } })).status).toBe(204);
    expect((await mount.call('read', 'acc/roles/r')).status).toBe(503);
    await clock.advance('61s');
    expect((await moving).status).toBe(400);
    expect((await mount.call('read', 'acc/roles/r')).status).toBe(200);
  });
});
