import { describe, expect, test } from '@jest/globals';
import { CallFailed, manualClock, mountForTest, sharedMemory } from '../src/index.ts';
import { notesEngine } from './notes-engine.ts';

describe('manualClock', () => {
  test('runs the timers on the way in the order of their times, each at its time', async () => {
    const clock = manualClock('2030-01-01T00:00:00Z');
    const seen: string[] = [];
    clock.after(2_000, () => seen.push(`b ${clock.now().toISOString()}`));
    clock.after(1_000, () => {
      seen.push('a');
      clock.after(500, () => seen.push('a2'));
    });
    const cancel = clock.after(1_500, () => seen.push('never'));
    cancel();
    await clock.advance('1m');
    expect(seen).toEqual(['a', 'a2', 'b 2030-01-01T00:00:02.000Z']);
    expect(clock.now().toISOString()).toBe('2030-01-01T00:01:00.000Z');
  });
});

describe('sharedMemory', () => {
  test('is one store for all its drivers, and notifies the others of changes', async () => {
    const store = sharedMemory();
    const [a, b] = [store.open(), store.open()];
    const heard: string[] = [];
    a.changes((keys) => heard.push(`a ${String(keys)}`));
    b.changes((keys) => heard.push(`b ${String(keys)}`));
    await a.commit({ put: [{ key: 'x', value: new Uint8Array([1]) }], notify: ['x'] });
    expect((await b.get('x'))?.value).toEqual(new Uint8Array([1]));
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(['b x']);
  });

  test('a driver that is cut lets nothing through, the others go on', async () => {
    const store = sharedMemory();
    const [a, b] = [store.open(), store.open()];
    a.cut();
    await expect(a.get('x')).rejects.toThrow('closed');
    await expect(a.commit({ put: [{ key: 'x', value: new Uint8Array(1) }] })).rejects.toThrow('closed');
    await b.commit({ put: [{ key: 'x', value: new Uint8Array(1) }] });
    expect(await b.get('x')).toBeDefined();
  });
});

describe('mountForTest', () => {
  test('a call below the mount that fails throws what was answered', async () => {
    const mount = await mountForTest(notesEngine());
    await expect(mount.write('notes/a', { text: { no: 'text' } })).rejects.toThrow(CallFailed);
    await expect(mount.write('notes/a', { text: { no: 'text' } })).rejects.toThrow(/400 .*"text"/);
    expect((await mount.call('read', 'notes/notes/a')).status).toBe(404);
    await mount.close();
  });

  test('over a store that was used before it finds everything again', async () => {
    const store = sharedMemory();
    const clock = manualClock();
    const first = await mountForTest(notesEngine(), { storage: store.open(), clock });
    await first.write('notes/a', { text: 'hello', keep: '1h' });
    await first.close();
    const second = await mountForTest(notesEngine(), { storage: store.open(), clock });
    expect((await second.read('notes/a')).data).toEqual({ text: 'hello', keep: 3_600 });
    await second.advance('1h');
    expect((await second.call('read', 'notes/notes/a')).status).toBe(404);
    await second.close();
  });
});
