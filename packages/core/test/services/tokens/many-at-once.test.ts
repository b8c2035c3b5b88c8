import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  manualClock,
  mountForTest,
  sharedMemory,
  type CuttableStorage,
  type ManualClock,
  type TestMount,
} from '@strongroom/engine-testkit';
import { Outside, testEngine } from '../../test-engine.ts';

describe('many tokens that end together', () => {
  let outside: Outside;
  let clock: ManualClock;
  let store: ReturnType<typeof sharedMemory>;
  let driver: CuttableStorage;
  let mount: TestMount;

  const start = async (): Promise<TestMount> => {
    driver = store.open();
    return mountForTest(testEngine(outside), { storage: driver, path: 'acc', clock });
  };
  const made = async (ttl: string): Promise<string> => {
    const answer = await mount.call('update', 'auth/token/create/many', { data: { policies: ['all'], ttl } });
    expect(answer.errors).toBeUndefined();
    return answer.auth!.client_token;
  };
  const alive = async (token: string): Promise<boolean> => (await mount.call('read', 'auth/token/lookup-self', { token })).status === 200;
  const keys = async (): Promise<string[]> => (await store.open().range({ keysOnly: true })).map(({ key }) => key);
  const revokeAll = async (): Promise<number | undefined> =>
    (await mount.call('update', 'sys/leases/revoke-prefix/auth/token/create/many', { data: { sync: true } })).status;
  /** Calls back each time the server has looked for leases of several tokens, before it knows what it found. */
  const whenLookedAt = (callback: (look: number) => Promise<void>): void => {
    const range = driver.range.bind(driver);
    let looks = 0;
    driver.range = async (query) => {
      const found = await range(query);
      if (query.prefix === 'token-lease/' && query.before !== undefined) await callback((looks += 1));
      return found;
    };
  };

  beforeEach(async () => {
    outside = new Outside();
    clock = manualClock();
    store = sharedMemory();
    mount = await start();
    await mount.write('roles/r', { ttl: '10h' });
    await mount.call('update', 'sys/policies/acl/all', { data: { policy: 'path "*" { capabilities = ["read", "update", "sudo"] }' } });
    await mount.call('update', 'auth/token/roles/many', { data: { orphan: true } });
  });
  afterEach(async () => mount.close());

  test('leave nothing in the store, whether they are revoked or expire', async () => {
    // What the server itself adds in the background is not theirs.
    const theirs = async (): Promise<string[]> => (await keys()).filter((key) => !key.startsWith('core/'));
    const before = await theirs();
    for (const end of [revokeAll, async () => mount.advance('1h')]) {
      for (let i = 0; i < 300; i += 1) await made('1h');
      await end();
      expect(await theirs()).toEqual(before);
    }
  });

  test('take with them what is issued to one of them after the look at what it has', async () => {
    const [token] = [await made('1h'), await made('1h')];
    whenLookedAt(async (look) => {
      if (look === 1) expect((await mount.call('read', 'acc/creds/r', { token })).status).toBe(200);
    });
    expect(await revokeAll()).toBe(204);
    expect(await alive(token)).toBe(false);
    expect(outside.users.size).toBe(0);
    expect((await keys()).filter((key) => /^(token-lease|lease\/acc)\//.test(key))).toEqual([]);
  });

  test('take it with them also where the server dies once they are gone', async () => {
    const before = await keys();
    const token = await made('1h');
    whenLookedAt(async (look) => {
      if (look === 1) expect((await mount.call('read', 'acc/creds/r', { token })).status).toBe(200);
      else driver.cut();
    });
    void revokeAll();
    await clock.advance(0);
    mount = await start();
    expect(await alive(token)).toBe(false);
    expect(outside.users.size).toBe(1);
    await mount.advance('4m');
    expect(outside.users.size).toBe(0);
    expect((await keys()).filter((key) => !before.includes(key) && !key.startsWith('core/'))).toEqual([]);
  });

  test('end one by one where they cannot end together, and only those that cannot are reported', async () => {
    const tokens = [await made('1h'), await made('1h'), await made('1h')];
    const commit = driver.commit.bind(driver);
    let together = 0;
    driver.commit = async (change) => {
      const gone = (change.delete ?? []).filter((key) => key.startsWith('token/'));
      if (gone.length > 1) {
        together += 1;
        throw new Error('too much at once');
      }
      return commit(change);
    };
    expect(await revokeAll()).toBe(204);
    expect(together).toBe(1);
    expect(await Promise.all(tokens.map(alive))).toEqual([false, false, false]);
  });
});
