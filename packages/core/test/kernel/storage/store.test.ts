import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { manualClock, mountForTest, sharedMemory, type CuttableStorage } from '@strongroom/engine-testkit';
import { Barrier } from '../../../src/kernel/barrier/barrier.ts';
import { CorruptRecord } from '../../../src/kernel/barrier/key-ring.ts';
import { Store } from '../../../src/kernel/storage/store.ts';
import { Outside, testEngine } from '../../test-engine.ts';

describe('a store', () => {
  let shared: ReturnType<typeof sharedMemory>;
  let driver: CuttableStorage;
  let store: Store;
  const open = async (): Promise<Store> => {
    driver = shared.open();
    const barrier = new Barrier(driver, manualClock());
    if (!(await barrier.initialized())) await barrier.initialize(Buffer.alloc(32, 9), []);
    await barrier.unseal(Buffer.alloc(32, 9));
    return new Store(driver, barrier);
  };
  const put = async (key: string, record: unknown, at: Store = store): Promise<void> => at.transaction(async (tx) => tx.put(key, record));

  beforeEach(async () => {
    shared = sharedMemory();
    store = await open();
  });

  test('a transaction applies all of its writes or none', async () => {
    await expect(
      store.transaction(async (tx) => {
        tx.put('a', 1);
        tx.put('b', 2);
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await store.get('a')).toBeUndefined();
    await store.transaction(async (tx) => {
      tx.put('a', 1);
      tx.put('b', 2);
    });
    expect([await store.get('a'), await store.get('b')]).toEqual([1, 2]);
  });

  test('a final record is not decoded again, until another process writes it, or this one puts or deletes it', async () => {
    const record = { n: 1 };
    await store.transaction(async (tx) => tx.putFinal('a', record));
    expect(await store.get('a')).toBe(record);

    await put('a', { n: 2 }, await open());
    expect(await store.get('a')).toEqual({ n: 2 });

    await store.transaction(async (tx) => tx.putFinal('a', record));
    await store.transaction(async (tx) => {
      tx.putFinal('a', record);
      tx.put('a', { n: 3 });
    });
    expect(await store.get('a')).toEqual({ n: 3 });

    await store.transaction(async (tx) => tx.putFinal('a', record));
    await store.transaction(async (tx) => {
      tx.putFinal('a', record);
      tx.delete('a');
    });
    expect(await store.get('a')).toBeUndefined();
  });

  test('a copy that replaces what its transaction has read is not decoded again, whatever its writer does with it', async () => {
    await put('a', { n: 1, list: [1] });
    const record = { n: 2, list: [1, 2] };
    await store.transaction(async (tx) => {
      await tx.get('a');
      await tx.putCopy('a', record);
      record.list.push(3);
    });
    record.n = 3;
    const parse = jest.spyOn(JSON, 'parse');
    try {
      expect(await store.get('a')).toEqual({ n: 2, list: [1, 2] });
      expect(parse).not.toHaveBeenCalled();
      expect(await (await open()).get('a')).toEqual({ n: 2, list: [1, 2] });
      expect(parse).toHaveBeenCalled();
    } finally {
      parse.mockRestore();
    }
  });

  test.each([
    ['members that are undefined', { a: undefined, b: [{ c: undefined }] }],
    ['a date', { a: new Date(0) }],
    [
      'an instance of a class',
      {
        a: new (class Own {
          readonly b = 1;
        })(),
      },
    ],
    ['a toJSON of its own', { a: { b: 1, toJSON: () => 2 } }],
    ['numbers that JSON does not have', { a: Number.NaN, b: -0, c: Infinity }],
    ['an array with a hole', { a: [undefined, 1] }],
    ['no prototype', Object.assign(Object.create(null), { a: 1 }) as object],
    ['a member __proto__', JSON.parse('{"a":{"__proto__":{"b":1}}}') as object],
  ])('a copy with %s is read by its writer as by others', async (_what, record) => {
    await put('a', 1);
    await store.transaction(async (tx) => {
      await tx.get('a');
      await tx.putCopy('a', record);
    });
    expect(await store.get('a')).toStrictEqual(await (await open()).get('a'));
  });

  test('a final record whose transaction conflicts is not what readers get', async () => {
    await put('n', 0);
    let runs = 0;
    await store.transaction(async (tx) => {
      runs += 1;
      const n = (await tx.get('n')) as number;
      if (runs === 1) await put('n', 10);
      tx.putFinal('n', n + 1);
    });
    expect([runs, await store.get('n')]).toEqual([2, 11]);
  });

  test('a transaction that read what another one changed runs again', async () => {
    await put('n', 0);
    let runs = 0;
    await store.transaction(async (tx) => {
      runs += 1;
      const n = (await tx.get('n')) as number;
      if (runs === 1) await put('n', 10);
      tx.put('n', n + 1);
    });
    expect(await store.get('n')).toBe(11);
    expect(runs).toBe(2);
  });

  test('a second read in a transaction gives what the first gave, and a change between them is a conflict', async () => {
    await put('n', 0);
    const seen: unknown[] = [];
    await store.transaction(async (tx) => {
      const first = await tx.get('n');
      if (seen.length === 0) await put('n', 5);
      seen.push([first, await tx.get('n')]);
      tx.put('m', first);
    });
    expect(seen).toEqual([
      [0, 0],
      [5, 5],
    ]);
    expect(await store.get('m')).toBe(5);
  });

  test('400 increments at once from two processes are all counted', async () => {
    await put('n', 0);
    const other = await open();
    await Promise.all(
      Array.from({ length: 400 }, async (_, i) =>
        (i % 2 ? store : other).transaction(async (tx) => tx.put('n', (((await tx.get('n')) as number | undefined) ?? 0) + 1)),
      ),
    );
    expect(await store.get('n')).toBe(400);
  });

  test('a transaction sees its own writes, in reads and in lists', async () => {
    await put('x/a', 1);
    await put('x/b', 2);
    await store.transaction(async (tx) => {
      tx.put('x/c', 3);
      tx.delete('x/a');
      expect(await tx.get('x/c')).toBe(3);
      expect(await tx.get('x/a')).toBeUndefined();
      expect(await tx.keys({ prefix: 'x/' })).toEqual(['x/b', 'x/c']);
    });
  });

  test('lists a folder by its next segments, however much lies below them', async () => {
    await store.transaction(async (tx) => {
      for (let i = 0; i < 700; i += 1) tx.put(`f/big/${String(i).padStart(4, '0')}`, i);
      for (const key of ['f/a', 'f/big', 'f/big-', 'f/zed/x/y', 'g']) tx.put(key, 1);
    });
    expect(await store.folder('f/')).toEqual(['a', 'big', 'big-', 'big/', 'zed/']);
    expect(await store.folder('f/', { limit: 2 })).toEqual(['a', 'big']);
    expect(await store.folder('f/', { after: 'big/' })).toEqual(['zed/']);
    expect(await store.folder('f/', { after: 'big' })).toEqual(['big-', 'big/', 'zed/']);
    expect(await store.folder('f/', { prefix: 'b' })).toEqual(['big', 'big-', 'big/']);
    expect((await store.folder('f/big/')).length).toBe(700);
    expect(await store.folder('nothing/')).toEqual([]);
  });

  test('pages through all records, and leaves out the unreadable ones alone', async () => {
    await store.transaction(async (tx) => {
      for (let i = 0; i < 1_000; i += 1) tx.put(`p/${String(i).padStart(4, '0')}`, i);
    });
    await driver.commit({
      put: [
        { key: 'p/0100', value: Buffer.from('nonsense') },
        { key: 'p/0255', value: Buffer.from('nonsense') },
      ],
    });
    const bad: string[] = [];
    let count = 0;
    for await (const page of store.pages('p/', (error) => bad.push(error.key))) count += page.length;
    expect({ count, bad }).toEqual({ count: 998, bad: ['p/0100', 'p/0255'] });
    await expect(store.get('p/0100')).rejects.toThrow(CorruptRecord);
  });

  test('a record moved to another key is not read there', async () => {
    await put('a', { secret: 1 });
    await driver.commit({ put: [{ key: 'b', value: (await driver.get('a'))!.value }] });
    await expect(store.get('b')).rejects.toThrow('"b" cannot be read');
  });

  test('what another process wrote is read at once', async () => {
    const other = await open();
    await put('a', 1);
    expect(await other.get('a')).toBe(1);
    await put('a', 2);
    expect(await other.get('a')).toBe(2);
    await store.transaction(async (tx) => tx.delete('a'));
    await put('a', 3);
    expect(await other.get('a')).toBe(3);
  });
});

describe("an engine's collections", () => {
  test('hand out copies: what an engine does with one is not what is stored', async () => {
    const mount = await mountForTest({
      ...testEngine(new Outside()),
      create: (host) => ({
        ...testEngine(new Outside()).create(host),
        initialize: async () => {
          const { Type } = await import('typebox');
          const records = host.storage.collection('x/', Type.Object({ list: Type.Array(Type.String()) }));
          const given = { list: ['a'] };
          await records.put('one', given);
          given.list.push('b');
          for (let i = 0; i < 3; i += 1) {
            const got = (await records.get('one'))!;
            expect(got).toEqual({ list: ['a'] });
            got.list.push('c');
          }
          await expect(records.put('one', { list: [1] } as never)).rejects.toThrow('is not as this version stores it');
        },
      }),
    });
    await mount.close();
  });

  test('that are cached are called off on the other servers when one changes', async () => {
    const shared = sharedMemory();
    const heard: string[] = [];
    const clock = manualClock();
    const one = await mountForTest(testEngine(new Outside()), { storage: shared.open(), clock });
    const other = await mountForTest(testEngine(new Outside(), { invalidated: (key) => heard.push(key) }), {
      storage: shared.open(),
      clock,
    });
    await one.write('roles/r', { ttl: '1h' });
    await other.write('roles/own', { ttl: '1h' });
    await clock.advance(0);
    expect(heard).toEqual(['role/r']);
    await one.close();
    await other.close();
  });
});
