import { beforeEach, describe, expect, test } from '@jest/globals';
import { StorageFailure } from '@strongroom/storage-sdk';
import { NotBegun, WriteGroups } from '../src/write-groups.ts';

describe('writes to one file', () => {
  let spoiled: number;
  let free: number;
  let groups: WriteGroups;
  let begun: string[];
  let ends: Map<string, (error?: Error) => void>;

  /** Begins a write that ends when the test says so. */
  const write = async (name: string, room?: number): Promise<string> =>
    groups.run(
      () =>
        new Promise<string>((resolve, reject) => {
          begun.push(name);
          ends.set(name, (error) => (error ? reject(error) : resolve(name)));
        }),
      room,
    );
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  beforeEach(() => {
    spoiled = 0;
    begun = [];
    ends = new Map();
    free = 2 ** 30;
    groups = new WriteGroups({ onSpoiled: () => (spoiled += 1), free: () => free });
  });

  test('go together until their transaction begins; later ones are the next group', async () => {
    const first = [write('a'), write('b')];
    groups.completed();
    const second = [write('c'), write('d')];
    await turn();
    expect(begun).toEqual(['a', 'b']);
    ends.get('a')!();
    await turn();
    expect(begun).toEqual(['a', 'b']);
    ends.get('b')!();
    await turn();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    groups.completed();
    for (const name of ['c', 'd']) ends.get(name)!();
    expect(await Promise.all([...first, ...second])).toEqual(['a', 'b', 'c', 'd']);
  });

  test('are refused, with nothing written, once one before them has failed', async () => {
    const failing = write('a');
    groups.completed();
    const waiting = write('b');
    ends.get('a')!(new Error('Input/output error'));
    await expect(failing).rejects.toThrow('Input/output error');
    expect(spoiled).toBe(1);
    await expect(waiting).rejects.toThrow(NotBegun);
    await expect(write('c')).rejects.toThrow('nothing was written');
    expect(begun).toEqual(['a']);
  });

  test('are refused before the disk has no room at all, and go on once it has', async () => {
    free = 2 ** 20 + 2 ** 18;
    const first = write('a', 2 ** 17);
    await expect(write('b', 2 ** 18)).rejects.toMatchObject({ reason: 'the disk is full', full: true });
    groups.completed();
    free = 2 ** 21;
    const second = write('b', 2 ** 18);
    ends.get('a')!();
    await turn();
    ends.get('b')!();
    expect(await Promise.all([first, second])).toEqual(['a', 'b']);
    expect([begun, spoiled]).toEqual([['a', 'b'], 0]);
  });

  test.each([
    ['that left nothing behind', new Error('MDB_NOTFOUND: No matching key/data pair found')],
    ['that never reached LMDB', new StorageFailure('lmdb', 'the file is being closed')],
  ])('go on after a failure %s', async (_what, failure) => {
    const failing = write('a');
    groups.completed();
    const waiting = write('b');
    ends.get('a')!(failure);
    await expect(failing).rejects.toBe(failure);
    await turn();
    ends.get('b')!();
    expect(await waiting).toBe('b');
    expect(spoiled).toBe(0);
  });
});
