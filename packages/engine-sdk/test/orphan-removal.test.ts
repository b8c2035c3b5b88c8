import { describe, expect, test } from '@jest/globals';
import {
  BadRequest,
  InvalidRequest,
  noOrphan,
  orphanCopiesWarning,
  orphanRemoval,
  removeOrphans,
  type OpenIntent,
  type OrphanRemover,
} from '../src/index.ts';

describe('orphans are removed', () => {
  test('once the journal has them, which is settled after each', async () => {
    const { journal, storage, remover } = removing({});
    expect(await removeOrphans(storage, ['b', 'a'], 1, remover)).toEqual({ removed: ['a', 'b'], pending: {} });
    expect(journal).toEqual(['note b', 'remove B', 'settle b', 'note a', 'remove A', 'settle a']);
  });

  test('later by the journal where the outside system fails, which the answer says', async () => {
    const { journal, storage, remover } = removing({ B: 'the broker is away' });
    expect(await removeOrphans(storage, ['b', 'a'], 1, remover)).toEqual({ removed: ['a'], pending: { b: 'because the broker is away' } });
    expect(journal).toEqual(['note b', 'remove B', 'abandon b', 'note a', 'remove A', 'settle a']);
  });

  test('no more at a time than the limit', async () => {
    let under = 0;
    let most = 0;
    const { storage, remover } = removing({});
    const slow = {
      ...remover,
      remove: async () => {
        most = Math.max(most, ++under);
        await Promise.resolve();
        under--;
      },
    };
    const { removed } = await removeOrphans(storage, ['a', 'b', 'c', 'd', 'e'], 2, slow);
    expect(removed).toHaveLength(5);
    expect(most).toBe(2);
  });

  test('not where one has come into use meanwhile: nothing is removed outside', async () => {
    const { journal, storage, remover } = removing({});
    const note = async (): Promise<never> => Promise.reject(noOrphan('a', 'it is in use'));
    await expect(removeOrphans(storage, ['a'], 4, { ...remover, note })).rejects.toThrow('"a" is no orphan: it is in use');
    expect(journal).toEqual([]);
  });
});

describe('the operation', () => {
  const { signal } = new AbortController();
  const asked: unknown[] = [];
  const { handle, response } = orphanRemoval('the directory', async (names) => {
    asked.push(names);
    return Promise.resolve({ removed: ['a'], gone: ['b'], pending: { c: 'away' } });
  });

  test('takes names, or all', async () => {
    const data = { removed: ['a'], gone: ['b'], pending: { c: 'away' } };
    expect(await handle({ data: { usernames: ['a', 'b'], all: false }, signal })).toEqual({ data });
    expect(await handle({ data: { usernames: undefined, all: true }, signal })).toEqual({ data });
    expect(asked.splice(0)).toEqual([['a', 'b'], 'all']);
  });

  test.each([
    ['neither', { usernames: undefined, all: false }],
    ['an empty list', { usernames: [], all: false }],
    ['both', { usernames: ['a'], all: true }],
  ])('refuses %s', async (_what, data) => {
    await expect(handle({ data, signal })).rejects.toThrow(new BadRequest('give either usernames, those to remove, or all=true'));
    expect(asked).toEqual([]);
  });

  test('says where orphans are looked for', () => {
    expect(response.properties.gone).toMatchObject({ description: 'Asked for, and not in the directory.' });
  });
});

test('what is no orphan is refused with its name', () => {
  expect(noOrphan('it"s')).toEqual(new InvalidRequest('"it\\"s" is no orphan: either this mount did not make it, or it is still in use'));
});

test('the warning of copies names the things', () => {
  expect(orphanCopiesWarning('accounts')).toMatch(/marks its accounts alike; remove accounts by name/);
});

/** A journal that writes down what happens, and an outside system in which `failures` happen. */
function removing(failures: Readonly<Record<string, string>>) {
  const journal: string[] = [];
  const kept = (verb: string) => async (intent: OpenIntent) => Promise.resolve(void journal.push(`${verb} ${String(intent)}`));
  const tx = { settle: kept('settle'), abandon: kept('abandon') };
  const storage = { transaction: async <T>(work: (tx: never) => Promise<T>): Promise<T> => work(tx as never) };
  const remover: OrphanRemover<string, string> = {
    nameOf: (name) => name,
    note: async (_tx, name) => {
      journal.push(`note ${name}`);
      return Promise.resolve({ intent: name as never, removal: name.toUpperCase() });
    },
    remove: async (removal) => {
      journal.push(`remove ${removal}`);
      const failure = failures[removal];
      if (failure !== undefined) throw new Error(failure);
      return Promise.resolve();
    },
    textOf: (error) => `because ${(error as Error).message}`,
  };
  return { journal, storage, remover };
}
