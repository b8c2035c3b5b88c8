import { describe, expect, test } from '@jest/globals';
import { secrets } from '../src/v2/secret-store.ts';
import { openFixture, type EngineFixture } from './engine-fixture.ts';

const large = (mark: string): string => mark.repeat(3_000);

async function readsOf(fixture: EngineFixture, path: string, data?: Record<string, unknown>): Promise<number> {
  const { view } = fixture;
  const before = view.reads + view.transactionReads;
  await fixture.call('read', path, data);
  return view.reads + view.transactionReads - before;
}

async function commitsOf(fixture: EngineFixture, work: () => Promise<unknown>): Promise<number> {
  const before = fixture.view.commits;
  await work();
  return fixture.view.commits - before;
}

describe('the cost of a call', () => {
  test('is one read for the current version of a small secret, two for a large or an older one', async () => {
    const fixture = await openFixture('2');
    await fixture.call('update', 'data/a', { data: { n: 1 } });
    await fixture.call('update', 'data/a', { data: { n: 2 } });
    await fixture.call('update', 'data/big', { data: { n: 'b'.repeat(600) } });
    expect(await readsOf(fixture, 'data/a')).toBe(1);
    expect(await readsOf(fixture, 'data/a', { version: 2 })).toBe(1);
    expect(await readsOf(fixture, 'data/a', { version: 1 })).toBe(2);
    expect(await readsOf(fixture, 'data/big')).toBe(2);
    expect(await readsOf(fixture, 'metadata/big')).toBe(1);
    await fixture.call('delete', 'data/big');
    expect(await readsOf(fixture, 'data/big')).toBe(1);
  });

  test('is one read for a secret of version 1', async () => {
    const fixture = await openFixture('1');
    await fixture.call('update', 'a', { n: 1 });
    expect(await readsOf(fixture, 'a')).toBe(1);
  });

  test('is one commit for any write', async () => {
    const fixture = await openFixture('2');
    await fixture.call('update', 'metadata/a', { max_versions: 2 });
    for (let i = 0; i < 4; i += 1) {
      expect(await commitsOf(fixture, async () => fixture.call('update', 'data/a', { data: { n: i % 2 ? i : large('x') } }))).toBe(1);
    }
    for (const work of [
      async () => fixture.call('patch', 'data/a', { data: { m: 1 } }),
      async () => fixture.call('delete', 'data/a'),
      async () => fixture.call('update', 'destroy/a', { versions: [4, 5] }),
      async () => fixture.call('delete', 'metadata/a'),
    ]) {
      expect(await commitsOf(fixture, work)).toBe(1);
    }
    expect(fixture.view.store.dump()).not.toContain('secret/a');
  });
});

describe('what is taken away', () => {
  const marks = ['first-small', large('SECOND'), 'third-small', large('FOURTH')] as const;

  async function written(): Promise<EngineFixture> {
    const fixture = await openFixture('2');
    for (const mark of marks) await fixture.call('update', 'data/a', { data: { mark } });
    return fixture;
  }
  const stored = (fixture: EngineFixture): boolean[] => marks.map((mark) => fixture.view.store.dump().includes(mark));

  test('is gone from storage when it is destroyed', async () => {
    const fixture = await written();
    expect(stored(fixture)).toEqual([true, true, true, true]);
    await fixture.call('update', 'destroy/a', { versions: [1, 4] });
    expect(stored(fixture)).toEqual([false, true, true, false]);
    await fixture.call('update', 'destroy/a', { versions: [2, 3] });
    expect(stored(fixture)).toEqual([false, false, false, false]);
  });

  test('is gone when it was current and small', async () => {
    const fixture = await openFixture('2');
    await fixture.call('update', 'data/a', { data: { mark: 'only-small' } });
    await fixture.call('update', 'destroy/a', { versions: [1] });
    expect(fixture.view.store.dump()).not.toContain('only-small');
    await fixture.call('update', 'data/a', { data: { mark: 'next' } });
    expect(await fixture.call('read', 'data/a', { version: 1 })).toMatchObject({ status: 404, data: { data: null } });
    expect(await fixture.call('read', 'data/a')).toMatchObject({ data: { data: { mark: 'next' }, metadata: { version: 2 } } });
  });

  test('stays while it is only deleted', async () => {
    const fixture = await written();
    await fixture.call('delete', 'data/a');
    await fixture.call('update', 'delete/a', { versions: [1, 2, 3] });
    expect(stored(fixture)).toEqual([true, true, true, true]);
  });

  test('is gone when newer versions push it out', async () => {
    const fixture = await written();
    await fixture.call('update', 'metadata/a', { max_versions: 2 });
    await fixture.call('update', 'data/a', { data: { mark: 'fifth' } });
    expect(stored(fixture)).toEqual([false, false, false, true]);
  });

  test('is gone with the metadata, and nothing else is', async () => {
    const fixture = await written();
    await fixture.call('update', 'data/a/b', { data: { mark: 'neighbour' } });
    await fixture.call('update', 'data/a/b', { data: { mark: large('neighbour') } });
    await fixture.call('delete', 'metadata/a');
    expect(stored(fixture)).toEqual([false, false, false, false]);
    expect(await fixture.call('read', 'data/a/b', { version: 1 })).toMatchObject({ data: { data: { mark: 'neighbour' } } });
    expect(await fixture.call('read', 'data/a/b')).toMatchObject({ data: { metadata: { version: 2 } } });
  });
});

describe('a store of an earlier version, which put larger data into the record of its secret', () => {
  const data = { mark: 'm'.repeat(2_000) };

  /** The secret as that version stored it. */
  async function earlier(): Promise<EngineFixture> {
    const fixture = await openFixture('2');
    await fixture.call('update', 'data/a', { data: { mark: 'small' } });
    const secret = (await secrets(fixture.view).get('a'))!;
    await secrets(fixture.view).put('a', { ...secret, latest: data });
    return fixture;
  }

  test('is read, and its data stays readable when the next version is written', async () => {
    const fixture = await earlier();
    expect(await fixture.call('read', 'data/a')).toMatchObject({ data: { data } });
    await fixture.call('patch', 'data/a', { data: { more: true } });
    expect(await fixture.call('read', 'data/a')).toMatchObject({ data: { data: { ...data, more: true } } });
    expect(await fixture.call('read', 'data/a', { version: 1 })).toMatchObject({ data: { data } });
  });

  test('loses the data that is destroyed', async () => {
    const fixture = await earlier();
    await fixture.call('update', 'destroy/a', { versions: [1] });
    expect(fixture.view.store.dump()).not.toContain(data.mark);
  });
});

describe('at the same time', () => {
  test('fifty writers with cas lose nothing: each of them adds one, no number is left out or used twice', async () => {
    const fixture = await openFixture('2');
    await fixture.call('update', 'config', { max_versions: 100 });
    await fixture.call('update', 'data/a', { data: { writers: [] } });
    const numbers = await Promise.all(
      Array.from({ length: 50 }, async (_, writer) => {
        for (;;) {
          const { data } = (await fixture.call('read', 'data/a')) as {
            data: { data: { writers: number[] }; metadata: { version: number } };
          };
          try {
            const written = await fixture.call('update', 'data/a', {
              data: { writers: [...data.data.writers, writer] },
              options: { cas: data.metadata.version },
            });
            return (written!.data as { version: number }).version;
          } catch (error) {
            expect((error as Error).message).toBe('check-and-set parameter did not match the current version');
          }
        }
      }),
    );
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 2));
    const { data } = (await fixture.call('read', 'data/a')) as { data: { data: { writers: number[] } } };
    expect(data.data.writers.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  test('fifty writers without cas and fifty patches get a version each', async () => {
    const fixture = await openFixture('2');
    await fixture.call('update', 'config', { max_versions: 200 });
    await fixture.call('update', 'data/a', { data: { at: 'start' } });
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, i) =>
        i % 2 ? fixture.call('update', 'data/b', { data: { i } }) : fixture.call('patch', 'data/a', { data: { [`k${i}`]: i } }),
      ),
    );
    const versions = (odd: number) =>
      answers.filter((_, i) => i % 2 === odd).map((answer) => (answer!.data as { version: number }).version);
    expect(new Set(versions(0)).size).toBe(50);
    expect(versions(1).sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    const { data } = (await fixture.call('read', 'data/a')) as { data: { data: Record<string, unknown> } };
    expect(Object.keys(data.data)).toHaveLength(51);
    expect(fixture.view.conflicts).toBeGreaterThan(0);
  });

  test('readers see whole versions while they are written, pruned and destroyed', async () => {
    const fixture = await openFixture('2');
    await fixture.call('update', 'metadata/a', { max_versions: 2 });
    await fixture.call('update', 'data/a', { data: { n: 1 } });
    let done = false;
    const writing = (async () => {
      for (let n = 2; n < 60; n += 1) {
        await fixture.call('update', 'data/a', { data: { n, fill: n % 3 ? '' : large('x') } });
        if (n % 5 === 0) await fixture.call('update', 'destroy/a', { versions: [n - 1] });
      }
      done = true;
    })();
    let seen = 0;
    const reader = async (): Promise<void> => {
      while (!done) {
        const { data } = (await fixture.call('read', 'metadata/a')) as { data: { current_version: number } };
        for (const version of [0, data.current_version - 1]) {
          const found = (await fixture.call('read', 'data/a', { version })) as
            | { data: { data: { n: number } | null; metadata: { version: number; destroyed: boolean } } }
            | undefined;
          if (!found) continue;
          if (found.data.data === null) expect(found.data.metadata.destroyed).toBe(true);
          else expect(found.data.data.n).toBe(found.data.metadata.version);
          seen += 1;
        }
      }
    };
    await Promise.all([writing, reader(), reader(), reader()]);
    expect(seen).toBeGreaterThan(50);
  });

  test('a write that the store refuses changes nothing', async () => {
    const fixture = await openFixture('2');
    await fixture.call('update', 'data/a', { data: { n: 1 } });
    const before = fixture.view.store.dump();
    fixture.view.commitsLeft = 0;
    await expect(fixture.call('update', 'data/a', { data: { n: large('2') } })).rejects.toThrow('the store is gone');
    await expect(fixture.call('update', 'destroy/a', { versions: [1] })).rejects.toThrow('the store is gone');
    expect(fixture.view.store.dump()).toBe(before);
  });
});
