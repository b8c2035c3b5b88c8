import { afterEach, describe, expect, test } from '@jest/globals';
import { KillableStorage, sharedMemory, type SharedMemory } from '@strongroom/engine-testkit';
import type { ConfiguredSeal } from '../../../src/index.ts';
import { FakeKms } from './fake-kms.ts';
import { SealedServer, type Keys } from './sealed-server.ts';

const servers: SealedServer[] = [];
const [a, b] = [new FakeKms(), new FakeKms()];
const SEALS: Readonly<Record<string, readonly ConfiguredSeal[]>> = {
  shamir: [],
  awskms: [a.seal('awskms')],
  transit: [b.seal('transit')],
  'awskms of another key': [b.seal('awskms')],
  'two seals': [a.seal('awskms', { name: 'east' }), b.seal('transit', { name: 'west' })],
};
const disabled = (seals: readonly ConfiguredSeal[]): ConfiguredSeal[] =>
  seals.map((seal) => ({ ...seal, name: `old-${seal.type}`, disabled: true }));

async function start(store: SharedMemory, seals: readonly ConfiguredSeal[]): Promise<SealedServer> {
  const server = await SealedServer.start(store, seals);
  servers.push(server);
  return server;
}

/** A store that is sealed so, and the shares of its operators. */
async function sealedWith(name: string): Promise<{ store: SharedMemory; shares: readonly string[]; keys: Keys }> {
  const store = sharedMemory();
  const first = await start(store, SEALS[name]!);
  const what = name === 'shamir' ? 'secret' : 'recovery';
  const keys = await first.init({ [`${what}_shares`]: 3, [`${what}_threshold`]: 2 });
  await first.core.close();
  return { store, shares: name === 'shamir' ? keys.keys : keys.recovery_keys!, keys };
}

/** Whether a server of this configuration alone opens, by itself or with the shares. */
async function opens(store: SharedMemory, seals: readonly ConfiguredSeal[], shares: readonly string[], token: string): Promise<boolean> {
  const server = await start(store, seals);
  if (seals.length === 0) for (const share of shares.slice(1)) await server.unseal(share);
  return server.serves(token);
}

describe('a migration', () => {
  afterEach(async () => {
    [a.failure, b.failure] = [undefined, undefined];
    for (const { core } of servers.splice(0)) await core.close();
  });

  const names = Object.keys(SEALS);
  const pairs = names.flatMap((from) => names.filter((to) => to !== from).map((to) => [from, to] as const));
  const pure = pairs.filter(([from, to]) => from !== 'two seals' && !(to === 'two seals' && from !== 'shamir'));

  test.each(pure)('from %s to %s takes the shares of the operators, which stay theirs', async (from, to) => {
    const { store, shares, keys } = await sealedWith(from);
    const target = SEALS[to]!;
    const server = await start(store, [...target, ...disabled(SEALS[from]!)]);
    const type = target[0]?.type ?? 'shamir';
    expect(await server.status()).toMatchObject({ type, sealed: true, migration: true, t: 2, n: 3, recovery_seal: target.length > 0 });
    expect(await server.unseal(shares[0]!)).toEqual([400, 'migrate option not provided and seal migration is pending']);
    expect(await server.unseal(shares[0]!, true)).toEqual([200, undefined]);
    expect(await server.status()).toMatchObject({ sealed: true, migration: true, progress: 1 });
    expect(await server.unseal(shares[1]!, true)).toEqual([200, undefined]);
    expect(await server.status()).toMatchObject({ type, sealed: false, migration: false, t: 2, n: 3 });
    expect(await server.serves(keys.root_token)).toBe(true);
    await server.core.close();
    expect(await opens(store, target, shares, keys.root_token)).toBe(true);
  });

  test('from two seals to Shamir works while one of them is lost', async () => {
    const { store, shares, keys } = await sealedWith('two seals');
    a.failure = 'away';
    const server = await start(store, disabled(SEALS['two seals']!));
    for (const share of shares.slice(1)) expect(await server.unseal(share, true)).toEqual([200, undefined]);
    expect(await server.serves(keys.root_token)).toBe(true);
    await server.core.close();
    expect(await opens(store, [], shares, keys.root_token)).toBe(true);
  });

  test('that is not pending is refused', async () => {
    const { store, shares } = await sealedWith('shamir');
    expect(await (await start(store, [])).unseal(shares[0]!, true)).toEqual([
      400,
      "can't perform a seal migration, no migration seal found",
    ]);
  });

  test('needs recovery keys, and says how to make them where the initialization postponed them', async () => {
    const store = sharedMemory();
    const first = await start(store, SEALS['awskms']!);
    await first.init({ recovery_shares: 0 });
    await first.core.close();
    const server = await start(store, [...SEALS['transit']!, ...disabled(SEALS['awskms']!)]);
    expect(await server.unseal('00'.repeat(32), true)).toEqual([
      400,
      'the store has no recovery keys yet, and a migration needs them: start a server with the seal "awskms" alone, and make them at sys/rotate/recovery/init',
    ]);
  });

  test('with the wrong shares changes nothing, and may be started over', async () => {
    const { store, shares, keys } = await sealedWith('awskms');
    const other = await sealedWith('awskms');
    const server = await start(store, [...SEALS['transit']!, ...disabled(SEALS['awskms']!)]);
    await server.unseal(other.shares[0]!, true);
    expect(await server.unseal(other.shares[1]!, true)).toEqual([400, 'invalid key: these are not the recovery keys of this server']);
    for (const share of shares.slice(1)) expect(await server.unseal(share, true)).toEqual([200, undefined]);
    expect(await server.serves(keys.root_token)).toBe(true);
  });

  test.each([
    ['old', a, 'the seal "old-awskms" cannot be reached: nothing was migrated'],
    ['new', b, 'the seal "transit" cannot be reached'],
  ])('whose %s seal cannot be reached says so and changes nothing', async (_, lost, text) => {
    const { store, shares, keys } = await sealedWith('awskms');
    const server = await start(store, [...SEALS['transit']!, ...disabled(SEALS['awskms']!)]);
    lost.failure = 'away';
    await server.unseal(shares[0]!, true);
    expect(await server.unseal(shares[1]!, true)).toEqual([503, text]);
    expect(await server.unseal(shares[1]!, true)).toEqual([503, text]);
    expect(await server.status()).toMatchObject({ sealed: true, progress: 1 });
    await server.core.close();
    lost.failure = undefined;
    expect(await opens(store, SEALS['awskms']!, shares, keys.root_token)).toBe(true);
  });

  test.each(pure)('from %s to %s that is killed leaves the old seal until its one commit, and the new one after it', async (from, to) => {
    for (let commits = 0; commits < 3; commits += 1) {
      const { store, shares, keys } = await sealedWith(from);
      const dying = new KillableStorage(store.open());
      const server = await SealedServer.start(dying, [...SEALS[to]!, ...disabled(SEALS[from]!)]);
      await server.unseal(shares[0]!, true);
      dying.dieAfter(commits);
      await Promise.race([server.unseal(shares[1]!, true), dying.noticed]);
      const [holds, gone] = commits === 0 ? [from, to] : [to, from];
      expect(await opens(store, SEALS[holds]!, shares, keys.root_token)).toBe(true);
      expect(await opens(store, SEALS[gone]!, shares, keys.root_token).catch(() => false)).toBe(false);
    }
  });

  test('is heard by servers of the same store that wait for it, and one with the old configuration says what it lacks', async () => {
    const { store, shares, keys } = await sealedWith('shamir');
    const [one, two] = [await start(store, SEALS['awskms']!), await start(store, SEALS['awskms']!)];
    const old = await start(store, []);
    for (const share of shares.slice(1)) await one.unseal(share, true);
    await two.after(1);
    expect(await two.serves(keys.root_token)).toBe(true);
    expect(await old.unseal(shares[0]!)).toEqual([
      400,
      'the store is sealed with "awskms", which the configuration does not name: add that seal, with disabled = "true" to migrate to shares',
    ]);
  });
});
