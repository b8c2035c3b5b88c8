import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type TestMount } from '@strongroom/engine-testkit';
import { TestWorld } from '../../test-world.ts';

describe('many tokens that end together', () => {
  let world: TestWorld;
  let mount: TestMount;

  const made = async (ttl: string): Promise<string> => {
    const answer = await mount.call('update', 'auth/token/create/many', { data: { policies: ['all'], ttl } });
    expect(answer.errors).toBeUndefined();
    return answer.auth!.client_token;
  };
  const alive = async (token: string): Promise<boolean> => (await mount.call('read', 'auth/token/lookup-self', { token })).status === 200;
  const revokeAll = async (): Promise<number | undefined> =>
    (await mount.call('update', 'sys/leases/revoke-prefix/auth/token/create/many', { data: { sync: true } })).status;
  /** Calls back each time the server has looked for leases of several tokens, before it knows what it found. */
  const whenLookedAt = (callback: (look: number) => Promise<void>): void => {
    const range = world.driver.range.bind(world.driver);
    let looks = 0;
    world.driver.range = async (query) => {
      const found = await range(query);
      if (query.prefix === 'token-lease/' && query.before !== undefined) await callback((looks += 1));
      return found;
    };
  };

  beforeEach(async () => {
    world = new TestWorld();
    mount = await world.start();
    await mount.write('roles/r', { ttl: '10h' });
    await mount.call('update', 'sys/policies/acl/all', { data: { policy: 'path "*" { capabilities = ["read", "update", "sudo"] }' } });
    await mount.call('update', 'auth/token/roles/many', { data: { orphan: true } });
  });
  afterEach(async () => world.close());

  test('leave nothing in the world.store, whether they are revoked or expire', async () => {
    // What the server itself adds in the background is not theirs.
    const theirs = async (): Promise<string[]> => (await world.keys()).filter((key) => !key.startsWith('core/'));
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
    expect(world.outside.users.size).toBe(0);
    expect((await world.keys()).filter((key) => /^(token-lease|lease\/acc)\//.test(key))).toEqual([]);
  });

  test('take it with them also where the server dies once they are gone', async () => {
    const before = await world.keys();
    const token = await made('1h');
    whenLookedAt(async (look) => {
      if (look === 1) expect((await mount.call('read', 'acc/creds/r', { token })).status).toBe(200);
      else world.driver.cut();
    });
    void revokeAll();
    await world.clock.advance(0);
    mount = await world.start();
    expect(await alive(token)).toBe(false);
    expect(world.outside.users.size).toBe(1);
    // What is counted as a token that ends is a token.
    expect((await world.keys()).filter((key) => /^schedule\/\d+\/token\//.test(key))).toEqual([]);
    await mount.advance('4m');
    expect(world.outside.users.size).toBe(0);
    expect((await world.keys()).filter((key) => !before.includes(key) && !key.startsWith('core/'))).toEqual([]);
  });

  test('end one by one where they cannot end together, and only those that cannot are reported', async () => {
    const tokens = [await made('1h'), await made('1h'), await made('1h')];
    const commit = world.driver.commit.bind(world.driver);
    let together = 0;
    world.driver.commit = async (change) => {
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

  describe('where one is made again with the same id while the server looks for what was left of it', () => {
    /** As long as the tombstone of a token that is gone stays in the schedule. */
    const BURIED = '75s';
    const again = async (ttl: string): Promise<void> => {
      const answer = await mount.call('update', 'auth/token/create/many', { data: { id: 'mine', policies: ['all'], ttl } });
      expect(answer.errors).toBeUndefined();
    };

    test('leave the new one alone, and what is issued to it', async () => {
      await again('1h');
      await made('1h');
      whenLookedAt(async (look) => {
        if (look !== 1) return;
        const commit = world.driver.commit.bind(world.driver);
        world.driver.commit = async (change) => {
          const version = await commit(change);
          if (!(change.delete ?? []).some((key) => key.startsWith('token/'))) return version;
          world.driver.commit = commit;
          await again('1h');
          expect((await mount.call('read', 'acc/creds/r', { token: 'mine' })).status).toBe(200);
          return version;
        };
      });
      expect(await revokeAll()).toBe(204);
      await mount.advance(BURIED);
      expect(await alive('mine')).toBe(true);
      expect(world.outside.users.size).toBe(1);
    });

    test('leave the new one its end, also where that is due with the look', async () => {
      await again('1h');
      whenLookedAt(async (look) => {
        if (look === 2) await again(BURIED);
      });
      expect(await revokeAll()).toBe(204);
      expect(await alive('mine')).toBe(true);
      await mount.advance(BURIED);
      expect((await world.keys()).filter((key) => key.startsWith('lease/auth/token/create/many/'))).toEqual([]);
    });

    test('give the new one nothing of what the former had', async () => {
      await again('1h');
      whenLookedAt(async (look) => {
        if (look === 1) expect((await mount.call('read', 'acc/creds/r', { token: 'mine' })).status).toBe(200);
        if (look !== 2) return;
        world.driver.cut();
      });
      void revokeAll();
      await world.clock.advance(0);
      mount = await world.start();
      expect(world.outside.users.size).toBe(1);
      await again('1h');
      expect(world.outside.users.size).toBe(0);
      await mount.advance('4m');
      expect(await alive('mine')).toBe(true);
    });
  });

  test('end a damaged one with what hangs on it, also where the server dies before it gets to that', async () => {
    const before = await world.keys();
    const token = await made('1h');
    expect((await mount.call('read', 'acc/creds/r', { token })).status).toBe(200);
    const record = (await world.keys()).find((key) => key.startsWith('token/') && !before.includes(key))!;
    await world.driver.commit({ put: [{ key: record, value: Buffer.from('damaged') }] });
    const commit = world.driver.commit.bind(world.driver);
    world.driver.commit = async (change) => {
      const version = await commit(change);
      if ((change.delete ?? []).some((key) => key.startsWith('schedule/') && key.includes(record.slice('token/'.length))))
        world.driver.cut();
      return version;
    };
    await world.clock.advance('1h');
    mount = await world.start();
    expect(world.outside.users.size).toBe(1);
    await mount.advance('4m');
    expect(world.outside.users.size).toBe(0);
    expect(
      (await world.keys()).filter(
        (key) => /^(token|token-lease|lease\/acc|schedule.*\/(token|tombstone))\//.test(key) && !before.includes(key),
      ),
    ).toEqual([]);
  });

  test('come to their end one by one where they are named twice', async () => {
    const before = await world.keys();
    const token = await made('75s');
    const digest = (await world.keys()).find((key) => key.startsWith('token/') && !before.includes(key))!.slice('token/'.length);
    await Promise.all([mount.advance('75s'), revokeAll()]);
    expect(await alive(token)).toBe(false);
    expect((await world.keys()).filter((key) => key.includes(digest))).toEqual([]);
  });
});
