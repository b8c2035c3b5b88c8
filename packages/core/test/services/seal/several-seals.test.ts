import { afterEach, describe, expect, test } from '@jest/globals';
import { sharedMemory } from '@strongroom/engine-testkit';
import type { ConfiguredSeal } from '../../../src/index.ts';
import { FakeKms } from './fake-kms.ts';
import { SealedServer, type Keys } from './sealed-server.ts';

const ONE = { recovery_shares: 1, recovery_threshold: 1 };
const servers: SealedServer[] = [];

function wrapsId({ value }: { readonly value: Uint8Array }): string {
  return (JSON.parse(Buffer.from(value).toString()) as { id: string }).id;
}

describe('several seals', () => {
  afterEach(async () => {
    for (const { core } of servers.splice(0)) await core.close();
  });
  const world = () => {
    const store = sharedMemory();
    const [east, west] = [new FakeKms(), new FakeKms()];
    const both = [east.seal('awskms', { name: 'east' }), west.seal('gcpckms', { name: 'west', priority: 2 })];
    const start = async (seals: readonly ConfiguredSeal[] = both): Promise<SealedServer> => {
      const server = await SealedServer.start(store, seals);
      servers.push(server);
      return server;
    };
    const wraps = async (): Promise<string[]> => {
      const { value } = (await store.open().get('core/seal-wraps'))!;
      const record = JSON.parse(Buffer.from(value).toString()) as { wraps: { name: string; key_id: string }[] };
      return record.wraps.map(({ name, key_id }) => `${name} ${key_id}`).toSorted();
    };
    const initialize = async (): Promise<Keys> => {
      const first = await start();
      const keys = await first.init(ONE);
      await first.core.close();
      return keys;
    };
    return { store, east, west, start, wraps, initialize };
  };

  test('each open the store alone, the one with the lowest priority first', async () => {
    const { east, west, start, wraps, initialize } = world();
    const { root_token } = await initialize();
    expect(await wraps()).toEqual(['east 1', 'west 1']);
    for (const lost of [east, west]) {
      lost.failure = 'away';
      const server = await start();
      expect(await server.serves(root_token)).toBe(true);
      expect(await server.status()).toMatchObject({ type: 'awskms', sealed: false });
      lost.failure = undefined;
    }
    west.calls = 0;
    await start();
    expect(west.calls).toBe(0);
  });

  test('that cannot all wrap keep the store from being initialized, and nothing is written', async () => {
    const { west, start, store } = world();
    west.failure = 'permission';
    const server = await start();
    const answer = await server.core.handle({ operation: 'update', path: 'sys/init', data: ONE });
    expect([answer.status, answer.errors]).toEqual([503, ['the seal "west" refuses permission']]);
    expect(await store.open().range({ keysOnly: true })).toEqual([]);
  });

  test('that were added later, or lost their wrap, have one after their health check', async () => {
    const { east, west, start, wraps } = world();
    const first = await start([east.seal('awskms', { name: 'east' })]);
    const { root_token } = await first.init(ONE);
    await first.core.close();
    west.failure = 'away';
    const server = await start();
    await server.after(1);
    expect(await wraps()).toEqual(['east 1']);
    west.failure = undefined;
    await server.after('1m');
    expect(await wraps()).toEqual(['east 1', 'west 1']);
    await server.core.close();
    east.failure = 'away';
    expect(await (await start()).serves(root_token)).toBe(true);
  });

  test('that are disabled or gone lose their wrap once another one has been checked', async () => {
    const { east, west, start, wraps, initialize } = world();
    await initialize();
    const server = await start([
      east.seal('awskms', { name: 'east', disabled: true }),
      west.seal('gcpckms', { name: 'west', priority: 2 }),
    ]);
    await server.after(1);
    expect(await wraps()).toEqual(['west 1']);
    expect(server.core.sealed).toBe(false);
  });

  test('wrap again with a new version of their key, at the start and after a health check, so that the old one may go', async () => {
    const { east, west, start, wraps, initialize } = world();
    const { root_token } = await initialize();
    east.rotate();
    const server = await start();
    expect(await wraps()).toEqual(['east 2', 'west 1']);
    east.rotate();
    west.rotate();
    await server.after('10m');
    expect(await wraps()).toEqual(['east 3', 'west 2']);
    for (const version of [1, 2]) east.forget(version);
    west.failure = 'away';
    expect(await (await start()).serves(root_token)).toBe(true);
  });

  test.each([
    ['other bytes', (plain: Buffer) => Buffer.alloc(plain.length)],
    ['fewer bytes', (plain: Buffer) => plain.subarray(1)],
    ['nothing', () => Buffer.alloc(0)],
  ])('open by the next one where the first answers %s', async (_, lie) => {
    const { east, start, initialize, wraps } = world();
    const { root_token } = await initialize();
    east.lie = lie;
    const server = await start();
    expect(await server.serves(root_token)).toBe(true);
    await server.after(1);
    expect((await server.status()).warnings).toEqual([
      expect.stringMatching(/^the seal "east" opens something else than it has wrapped, since/),
    ]);
    expect(await wraps()).toEqual(['east 1', 'west 1']);
  });

  test.each([
    ['cuts what it answers', 'the seal "east" has a key that does not open this store', (kms: FakeKms) => (kms.cuts = true)],
    ['opens other bytes', 'the seal "east" opens something else than it has wrapped', (kms: FakeKms) => (kms.lie = () => Buffer.alloc(32))],
  ])('none of which %s when the store is initialized, or nothing is written', async (_, text, spoil) => {
    const { east, start, store } = world();
    spoil(east);
    const answer = await (await start()).core.handle({ operation: 'update', path: 'sys/init', data: ONE });
    expect([answer.status, answer.errors]).toEqual([503, [text]]);
    expect(await store.open().range({ keysOnly: true })).toEqual([]);
  });

  test('wrap a new seal key when the root key is replaced, and other servers take it up without being sealed', async () => {
    const { store, start, wraps, initialize } = world();
    const { root_token: token } = await initialize();
    const [first, second] = [await start(), await start()];
    const before = await store.open().get('core/seal-wraps');
    expect((await first.core.handle({ operation: 'update', path: 'sys/rotate/root', data: {}, token })).status).toBe(204);
    const after = await store.open().get('core/seal-wraps');
    expect(wrapsId(after!)).not.toBe(wrapsId(before!));
    expect(await wraps()).toEqual(['east 1', 'west 1']);
    await second.after(1);
    expect((await second.core.handle({ operation: 'update', path: 'sys/rotate/root', data: {}, token })).status).toBe(204);
    for (const server of [first, second, await start()]) {
      await server.after(1);
      expect(await server.serves(token)).toBe(true);
      expect(server.logged.filter(({ message }) => message === 'sealed')).toEqual([]);
    }
  });

  test('wrap one new seal key when two servers replace the root key at the same time', async () => {
    const { start, initialize } = world();
    const { root_token: token } = await initialize();
    const both = [await start(), await start()];
    const rotated = both.map(async ({ core }) => core.handle({ operation: 'update', path: 'sys/rotate/root', data: {}, token }));
    expect((await Promise.all(rotated)).map(({ status }) => status)).toEqual([204, 204]);
    for (const server of [...both, await start()]) {
      await server.after(1);
      expect(await server.serves(token)).toBe(true);
    }
  });

  test('must all answer for a new root key: otherwise nothing changes, and the refusal names the seal', async () => {
    const { store, west, start, initialize } = world();
    const { root_token: token } = await initialize();
    const server = await start();
    const stored = async () =>
      Promise.all(['core/root-key', 'core/seal-wraps', 'core/keyring'].map(async (key) => (await store.open().get(key))!.version));
    await server.after(1);
    const before = await stored();
    west.failure = 'permission';
    const { status, errors } = await server.core.handle({ operation: 'update', path: 'sys/rotate/root', data: {}, token });
    expect([status, errors]).toEqual([503, ['the seal "west" refuses permission: the root key was not replaced']]);
    expect(await stored()).toEqual(before);
    expect(await server.serves(token)).toBe(true);
  });

  test('show each failure in the status, in health and in the log, every minute until it is over', async () => {
    const { east, start, initialize } = world();
    await initialize();
    const server = await start();
    await server.after(1);
    expect(await server.health()).not.toHaveProperty('seal_warnings');
    east.failure = 'throttled';
    await server.after('10m');
    const warning = expect.stringMatching(/^the seal "east" asks for a pause, since \S+Z$/);
    expect((await server.status()).warnings).toEqual([warning]);
    expect(await server.health()).toMatchObject({ sealed: false, seal_warnings: [warning] });
    expect(server.core.sealStates()).toMatchObject([
      { name: 'east', healthy: false, failure: 'throttled' },
      { name: 'west', healthy: true },
    ]);
    east.failure = 'permission';
    await server.after('1m');
    expect(server.said('a seal asks for a pause')).toMatchObject([{ seal: 'east', reason: 'ThrottlingException' }]);
    expect(server.said('a seal refuses permission: somebody must grant it again')).toHaveLength(1);
    expect(server.core.sealUnreachableSeconds()).toEqual([
      { name: 'east', seconds: 61 },
      { name: 'west', seconds: 0 },
    ]);
    east.failure = undefined;
    await server.after('1m');
    expect(server.said('a seal works again')).toMatchObject([{ seal: 'east', seconds: 120 }]);
    expect(await server.status()).not.toHaveProperty('warnings');
  });

  test('that all fail leave an open server open, and a restarted one sealed until one is back; status and log say why', async () => {
    const { east, west, start, initialize } = world();
    const { root_token } = await initialize();
    const open = await start();
    east.failure = 'permission';
    west.failure = 'throttled';
    await open.after('10m');
    expect(await open.serves(root_token)).toBe(true);
    expect((await open.status()).warnings?.[0]).toContain('until it works again, a restart leaves this server sealed');
    const server = await start();
    const warnings = ['the seal "east" refuses permission; the seal "west" asks for a pause; the server stays sealed and tries again'];
    expect(await server.status()).toMatchObject({ sealed: true, warnings });
    expect((await server.core.handle({ operation: 'read', path: 'sys/health' })).status).toBe(503);
    expect(server.said('refuses permission: somebody must grant it again')).toMatchObject([
      { reasons: ['AccessDeniedException on arn:aws:kms:key/1', 'ThrottlingException'], seconds: 30 },
    ]);
    west.failure = undefined;
    await server.after(29);
    expect(server.core.sealed).toBe(true);
    await server.after(1);
    expect(await server.serves(root_token)).toBe(true);
  });
});
