import { describe, expect, test } from '@jest/globals';
import { KillableStorage, manualClock, sharedMemory, type ManualClock } from '@strongroom/engine-testkit';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import { mfaWorld, type MfaWorld } from './mfa-world.ts';

interface Enforced {
  readonly world: MfaWorld;
  readonly method: string;
  readonly code: (off?: number) => string;
}

async function enforced(storage: StorageDriver, clock: ManualClock = manualClock()): Promise<Enforced> {
  const world = await mfaWorld({ storage, clock });
  const method = await world.method();
  const code = await world.authenticator(method, await world.entityOf('ann'));
  await world.write('identity/mfa/login-enforcement/all', { mfa_method_ids: [method], auth_method_types: ['gate'] });
  return { world, method, code };
}

const tokensOf = async (world: MfaWorld): Promise<number> =>
  ((await world.call('list', 'auth/token/accessors')).data as { keys: string[] }).keys.length - 1;

describe('a code', () => {
  test('that comes a hundred times at once, for as many logins, makes one token', async () => {
    const { world, method, code } = await enforced(memoryStorage());
    const requestIds = await Promise.all(Array.from({ length: 100 }, async () => (await world.login()).requestId!));
    const used = code();
    const results = await Promise.all(requestIds.map(async (requestId) => world.validate(requestId, { [method]: [used] })));
    expect(results.filter(({ token }) => token !== undefined)).toHaveLength(1);
    expect(results.filter(({ refused }) => refused?.includes('code already used'))).toHaveLength(99);
    expect(await tokensOf(world)).toBe(1);
    await world.close();
  });

  test('that comes a hundred times at once for one login makes one token', async () => {
    const { world, method, code } = await enforced(memoryStorage());
    const { requestId } = await world.login();
    const used = code();
    const results = await Promise.all(Array.from({ length: 100 }, async () => world.validate(requestId!, { [method]: [used] })));
    expect(results.filter(({ token }) => token !== undefined)).toHaveLength(1);
    expect(await tokensOf(world)).toBe(1);
    await world.close();
  });

  test('that comes to two servers of one store at once, in either way to log in, makes one token', async () => {
    const store = sharedMemory();
    const clock = manualClock();
    const { world: a, method, code } = await enforced(store.open(), clock);
    const b = await mfaWorld({ storage: store.open(), clock });
    const used = code();
    const held = await Promise.all([a, b, a, b].map(async (world) => (await world.login()).requestId!));
    const results = await Promise.all([
      // Each login waits for all servers.
      b.validate(held[0]!, { [method]: [used] }),
      a.validate(held[1]!, { [method]: [used] }),
      a.validate(held[2]!, { [method]: [used] }),
      b.validate(held[3]!, { [method]: [used] }),
      a.login({ header: `${method}:${used}` }),
      b.login({ header: `${method}:${used}` }),
    ]);
    expect(results.filter(({ token }) => token !== undefined)).toHaveLength(1);
    expect(await tokensOf(b)).toBe(1);
    await a.close();
    await b.close();
  });

  test('that is wrong counts on all servers together', async () => {
    const store = sharedMemory();
    const clock = manualClock();
    const { world: a, method, code } = await enforced(store.open(), clock);
    const b = await mfaWorld({ storage: store.open(), clock });
    for (const world of [a, b, a, b, a]) {
      const { requestId } = await world.login();
      expect((await world.validate(requestId!, { [method]: ['000000'] })).refused).toContain('incorrect');
    }
    for (const world of [a, b]) {
      const { requestId } = await world.login();
      expect((await world.validate(requestId!, { [method]: [code()] })).refused).toContain('maximum TOTP validation attempts');
    }
    await a.close();
    await b.close();
  });
});

describe('a server that dies', () => {
  test('between the steps leaves the login waiting for the next one', async () => {
    const disk = memoryStorage();
    const first = new KillableStorage(disk);
    const clock = manualClock();
    const { world, method, code } = await enforced(first, clock);
    const { requestId } = await world.login();
    first.die();
    const next = await mfaWorld({ storage: disk, clock });
    expect((await next.validate(requestId!, { [method]: [code()] })).token).toBeDefined();
    await next.close();
  });

  test('in the second step, at any commit, has made the token and used the code, or neither', async () => {
    for (let commits = 0; ; commits += 1) {
      const disk = memoryStorage();
      const first = new KillableStorage(disk);
      const clock = manualClock();
      const { world, method, code } = await enforced(first, clock);
      const { requestId } = await world.login();
      const used = code();
      first.dieAfter(commits);
      const died = await Promise.race([first.noticed.then(() => true), world.validate(requestId!, { [method]: [used] }).then(() => false)]);
      // What is written in the background must not meet the death that was meant for the login.
      if (died) first.die();
      else first.dieAfter(Infinity);
      const next = died ? await mfaWorld({ storage: disk, clock }) : world;
      const made = await tokensOf(next);
      const { token } = await next.validate(requestId!, { [method]: [used] });
      expect({ commits, tokens: made + (token === undefined ? 0 : 1) }).toEqual({ commits, tokens: 1 });
      await next.close();
      if (!died) break;
    }
  });
});
