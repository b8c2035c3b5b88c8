import { beforeEach, describe, expect, test } from '@jest/globals';
import { StorageFailure } from '@strongroom/storage-sdk';
import { NotBegun, WriteGroups } from '../src/write-groups.ts';

describe('writes to one file', () => {
  let spoiled: number;
  let free: number;
  let groups: WriteGroups;
  let begun: string[];
  /** Ends the transaction. */
  let end: (error?: Error) => void;

  const write = async (name: string, room?: number): Promise<string> =>
    groups.run(() => {
      begun.push(name);
      return name;
    }, room);
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  beforeEach(() => {
    spoiled = 0;
    begun = [];
    free = 2 ** 30;
    groups = new WriteGroups({
      transaction: async (hand) => {
        hand();
        return new Promise<void>((resolve, reject) => (end = (error) => (error ? reject(error) : resolve())));
      },
      onSpoiled: () => (spoiled += 1),
      free: () => free,
    });
  });

  test('of one turn go together; later ones are the next group, which begins when the first has ended', async () => {
    const first = [write('a'), write('b')];
    expect(begun).toEqual([]);
    await turn();
    const second = [write('c'), write('d')];
    await turn();
    expect(begun).toEqual(['a', 'b']);
    end();
    expect(await Promise.all(first)).toEqual(['a', 'b']);
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    end();
    expect(await Promise.all(second)).toEqual(['c', 'd']);
    const last = write('e');
    await turn();
    end();
    expect(await last).toBe('e');
  });

  test('resolve to what each makes of its part of the transaction', async () => {
    const held = groups.run(async () => Promise.resolve(false));
    await turn();
    end();
    expect(await held).toBe(false);
  });

  test('are refused, with nothing written, once one before them has failed', async () => {
    const failing = write('a');
    await turn();
    const waiting = write('b');
    end(new Error('Input/output error'));
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
    free = 2 ** 21;
    const second = write('b', 2 ** 18);
    end();
    await first;
    end();
    expect(await second).toBe('b');
    expect([begun, spoiled]).toEqual([['a', 'b'], 0]);
  });

  test('are all refused while the file cannot be written, and go on afterwards', async () => {
    free = 0;
    const refused = await Promise.allSettled([write('a'), write('b')]);
    expect(refused).toMatchObject([{ reason: { full: true } }, { reason: { full: true } }]);
    free = 2 ** 30;
    const next = write('c');
    await turn();
    end();
    expect(await next).toBe('c');
  });

  test.each<[string, () => string | Promise<string>]>([
    [
      'at once',
      () => {
        throw new StorageFailure('lmdb', 'the key is too long');
      },
    ],
    ['with a promise, before the transaction ends', async () => Promise.reject(new StorageFailure('lmdb', 'the key is too long'))],
  ])('that cannot be handed over fail alone, %s', async (_when, hand) => {
    const failing = groups.run(hand);
    const results = Promise.allSettled([failing, write('a')]);
    await turn();
    end();
    expect(await results).toMatchObject([{ reason: { reason: 'the key is too long' } }, { value: 'a' }]);
  });

  test('are waited for before the file is closed', async () => {
    let idle = 0;
    const first = write('a');
    const closing = groups.idle().then(() => (idle = begun.length));
    await turn();
    void write('b');
    end();
    await first;
    end();
    await closing;
    expect(idle).toBe(2);
    await groups.idle();
  });

  test.each([
    ['that left nothing behind', new Error('MDB_NOTFOUND: No matching key/data pair found')],
    ['that never reached LMDB', new StorageFailure('lmdb', 'the file is being closed')],
  ])('go on after a failure %s', async (_what, failure) => {
    const failing = write('a');
    await turn();
    const waiting = write('b');
    end(failure);
    await expect(failing).rejects.toBe(failure);
    await turn();
    end();
    expect(await waiting).toBe('b');
    expect(spoiled).toBe(0);
  });
});
