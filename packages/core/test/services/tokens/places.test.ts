import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ManualClock } from '@strongroom/engine-testkit';
import type { Store } from '../../../src/kernel/storage/store.ts';
import type { TokenStore } from '../../../src/services/tokens/token-store.ts';
import { openedStore } from './opened-store.ts';
import type { TokenRecord } from '../../../src/services/tokens/token-record.ts';

describe('where tokens are stored', () => {
  let clock: ManualClock;
  let store: Store;
  let tokens: TokenStore;

  beforeEach(async () => {
    ({ clock, store, tokens } = await openedStore());
    await tokens.open();
  });
  const made = async (id?: string) => {
    const now = clock.millis();
    const record: Omit<TokenRecord, 'accessor'> = {
      ...{ path: 'auth/token/create', policies: ['default'], display_name: 'token', renewable: true, parent: 'root' },
      ...{ created: now, expires: now + 86_400_000, creation_ttl: 86_400 },
    };
    return store.transaction(async (tx) => tokens.create(tx, record, id));
  };
  const keys = async (): Promise<string[]> =>
    (await Promise.all(['token', 'accessor', 'lease', 'schedule'].map(async (prefix) => store.keys({ prefix })))).flat();
  const end = async (digest: string): Promise<void> => {
    await tokens.beginRevocation([{ digest }]);
    await tokens.remove(digest, { parent: 'root', tombstone: undefined });
  };

  test('those of one moment are next to each other, in every index', async () => {
    const moments: string[][] = [];
    for (let moment = 0; moment < 5; moment += 1) {
      moments.push(await Promise.all(Array.from({ length: 20 }, async () => (await made()).digest)));
      await clock.advance('1m');
    }
    for (const prefix of ['token/', 'token-child/root/', 'lease/auth/token/create/']) {
      const order = (await store.keys({ prefix })).map((key) => moments.findIndex((digests) => digests.includes(key.slice(prefix.length))));
      expect(order.filter((moment, at) => moment !== order[at - 1])).toHaveLength(5);
    }
  });

  test.each([
    ['one that a server makes', undefined],
    ['one that somebody chose', 'chosen'],
    // With an id it gets the digest that version 0.1 gave to all tokens.
    ['one that version 0.1 made', `s.${'x'.repeat(24)}`],
  ])('%s is found by itself and by its accessor, and leaves nothing behind', async (_which, id) => {
    const before = await keys();
    const { token, digest, record } = await made(id);
    expect(await tokens.digest(token)).toBe(digest);
    expect(await tokens.find(token)).toMatchObject({ digest, record });
    expect(await tokens.byAccessor(record.accessor)).toMatchObject({ digest });
    await end(digest);
    expect(await tokens.find(token)).toBeUndefined();
    expect(await tokens.byAccessor(record.accessor)).toBeUndefined();
    expect(await keys()).toEqual(before);
  });

  test('an accessor that version 0.1 made is found', async () => {
    const { digest, record } = await made(`s.${'y'.repeat(24)}`);
    expect(record.accessor).toMatch(/^[A-Za-z0-9]{24}$/);
    expect((await tokens.byAccessor(record.accessor))?.digest).toBe(digest);
  });

  test.each(['', 's.', 's./../x', `s.a/b${'x'.repeat(21)}`, `s.${'x'.repeat(5_000)}`, '\0'])('nothing is found by %j', async (text) => {
    expect(await tokens.find(text)).toBeUndefined();
    expect(await tokens.byAccessor(text)).toBeUndefined();
    expect(await tokens.digest(text)).toMatch(/^[\w-]{32}$/);
  });
});
