import { afterEach, describe, expect, test } from '@jest/globals';
import { checkedCore, manualClock, type ManualClock, sharedMemory } from '@strongroom/engine-testkit';
import type { KeySeal, Core } from '../../../src/index.ts';
import { FakeKms } from './fake-kms.ts';
import { SealedServer } from './sealed-server.ts';

const key = Buffer.alloc(32, 7);
const turns = async (count = 50): Promise<void> => {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('an automatic seal', () => {
  const open: Core[] = [];
  afterEach(async () => {
    for (const core of open.splice(0)) await core.close();
  });
  const start = async (store: ReturnType<typeof sharedMemory>, seal: KeySeal, clock: ManualClock): Promise<Core> => {
    const core = await checkedCore({ storage: store.open(), seal, liveness: { clock } });
    open.push(core);
    return core;
  };
  const initialize = async (core: Core) =>
    core.handle({ operation: 'update', path: 'sys/init', data: { recovery_shares: 1, recovery_threshold: 1 } });
  const status = async (core: Core): Promise<Record<string, unknown>> =>
    JSON.parse(String((await core.handle({ operation: 'read', path: 'sys/seal-status' })).raw!.body)) as Record<string, unknown>;

  test('opens by itself as soon as another server has initialized the store, without a look at the clock', async () => {
    const store = sharedMemory();
    const clock = manualClock();
    const one = await start(store, { type: 'static', key }, clock);
    const two = await start(store, { type: 'static', key }, clock);
    expect(two.sealed).toBe(true);
    await initialize(one);
    await clock.advance(0);
    await turns();
    expect(two.sealed).toBe(false);
  });

  test('opens within a second where the notification is not heard', async () => {
    const store = sharedMemory();
    const clock = manualClock();
    const deaf = store.open();
    const two = await checkedCore({ storage: deaf, seal: { type: 'static', key }, liveness: { clock } });
    open.push(two);
    deaf.deafen();
    await initialize(await start(store, { type: 'static', key }, manualClock()));
    await clock.advance(1);
    await turns();
    expect(two.sealed).toBe(false);
  });

  test('opens by itself when its key comes back, and says meanwhile why it is sealed', async () => {
    const store = sharedMemory();
    const first = await start(store, { type: 'static', key }, manualClock());
    await initialize(first);
    const clock = manualClock();
    let there = false;
    const kept = async (): Promise<Uint8Array> => {
      if (!there) throw new Error('the key store does not answer');
      return key;
    };
    const core = await start(store, { type: 'static', key: kept }, clock);
    expect(core.sealed).toBe(true);
    expect(await status(core)).toMatchObject({
      sealed: true,
      warnings: ['the seal "static" cannot be reached; the server stays sealed and tries again'],
    });
    await clock.advance(10);
    await turns();
    expect(core.sealed).toBe(true);
    there = true;
    await clock.advance(60);
    await turns();
    expect(core.sealed).toBe(false);
    expect(await status(core)).not.toHaveProperty('warnings');
  });

  test('answers initialization with 503 that names the seal while its key cannot be had', async () => {
    const kept = async (): Promise<Uint8Array> => {
      throw new Error('gone');
    };
    const core = await start(sharedMemory(), { type: 'static', key: kept }, manualClock());
    const { status: code, errors } = await initialize(core);
    expect([code, errors]).toEqual([503, ['the seal "static" cannot be reached']]);
  });

  test('that was sealed by hand stays sealed', async () => {
    const store = sharedMemory();
    const clock = manualClock();
    const core = await start(store, { type: 'static', key }, clock);
    await initialize(core);
    await core.seal();
    await clock.advance('10m');
    await turns();
    expect(core.sealed).toBe(true);
    expect((await status(core))['warnings']).toEqual([
      'the server was sealed by hand: give recovery keys to operator unseal, or restart it',
    ]);
  });

  test('that was sealed by hand without recovery keys asks for a restart', async () => {
    const core = await start(sharedMemory(), { type: 'static', key }, manualClock());
    await core.handle({ operation: 'update', path: 'sys/init', data: { recovery_shares: 0 } });
    await core.seal();
    expect((await status(core))['warnings']).toEqual(['the server was sealed by hand: it has no recovery keys yet, so a restart opens it']);
  });

  test('that does not answer lets the server start after five seconds, and stop at once', async () => {
    const store = sharedMemory();
    const kms = new FakeKms();
    const first = await SealedServer.start(store, [kms.seal('awskms')]);
    const { root_token } = await first.init({ recovery_shares: 1, recovery_threshold: 1 });
    await first.core.close();
    kms.hangs = true;
    const begun = async (): Promise<SealedServer> => {
      const clock = manualClock();
      const starting = SealedServer.start(store, [kms.seal('awskms')], clock);
      await turns();
      await clock.advance('5s');
      return starting;
    };
    const stopped = await begun();
    await stopped.core.close();
    const server = await begun();
    expect((await server.status()).warnings).toEqual(['no seal has answered yet; the server stays sealed and tries again']);
    await server.after('5s');
    expect((await server.status()).warnings).toEqual(['the seal "awskms" cannot be reached; the server stays sealed and tries again']);
    kms.hangs = false;
    await server.after('1s');
    expect(await server.serves(root_token)).toBe(true);
    await server.core.close();
  });

  test('answers recovery keys by a sentence while its seal cannot be reached, and opens by itself afterwards', async () => {
    const store = sharedMemory();
    const first = await start(store, { type: 'static', key }, manualClock());
    const { recovery_keys_base64: keys } = JSON.parse(String((await initialize(first)).raw!.body)) as { recovery_keys_base64: string[] };
    const clock = manualClock();
    let there = false;
    const kept = async (): Promise<Uint8Array> => {
      if (!there) throw new Error('no answer from 10.1.2.3');
      return key;
    };
    const core = await start(store, { type: 'static', key: kept }, clock);
    const answer = await core.handle({ operation: 'update', path: 'sys/unseal', data: { key: keys[0] } });
    expect([answer.status, answer.errors]).toEqual([
      503,
      ['the seal "static" cannot be reached: recovery keys allow this server to open, and cannot do it themselves'],
    ]);
    there = true;
    await clock.advance(1);
    await turns();
    expect(core.sealed).toBe(false);
  });
});
