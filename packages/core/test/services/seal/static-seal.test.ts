import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { checkedCore } from '@strongroom/engine-testkit';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import { sealWith, unsealWith } from '../../../src/kernel/barrier/sealed-box.ts';
import type { KeySeal, Core, CoreRequest, CoreResponse } from '../../../src/index.ts';

const key = randomBytes(32);
const seal: KeySeal = { type: 'static', key };

async function call(
  core: Core,
  operation: CoreRequest['operation'],
  path: string,
  data: Record<string, unknown> = {},
  token = '',
): Promise<CoreResponse> {
  return core.handle({ operation, path, data, token });
}

/** Closes the core and keeps the store. */
function lasting(storage: StorageDriver): StorageDriver {
  return Object.assign(Object.create(storage) as StorageDriver, {
    name: storage.name,
    shared: storage.shared,
    get: storage.get.bind(storage),
    range: storage.range.bind(storage),
    commit: storage.commit.bind(storage),
    changes: storage.changes.bind(storage),
    close: async () => undefined,
  });
}

interface Made {
  readonly recovery_keys: string[];
  readonly root_token: string;
}

async function initialized(core: Core, order: Record<string, unknown> = {}): Promise<Made> {
  const answer = await call(core, 'update', 'sys/init', order);
  expect(answer.errors).toBeUndefined();
  return JSON.parse(answer.raw!.body as string) as Made;
}

describe('a core whose seal opens by itself', () => {
  test('is open after its initialization, which gives recovery keys and no unseal keys', async () => {
    const core = await checkedCore({ storage: memoryStorage(), seal });
    expect((await call(core, 'update', 'sys/init', { secret_shares: 1, secret_threshold: 1 })).errors).toEqual([
      'parameters secret_shares,secret_threshold not applicable to seal type static',
    ]);
    const made = await initialized(core);
    expect(made).toMatchObject({ keys: [], keys_base64: [] });
    expect(made.recovery_keys).toHaveLength(5);
    const status = JSON.parse((await call(core, 'read', 'sys/seal-status')).raw!.body as string) as object;
    expect(status).toMatchObject({ type: 'static', sealed: false, recovery_seal: true, recovery_seal_type: 'shamir' });
    await core.close();
  });

  test('opens at the next start, also with a new key beside the old one, and then with the new one alone', async () => {
    const storage = lasting(memoryStorage());
    const first = await checkedCore({ storage, seal });
    const { root_token } = await initialized(first, { recovery_shares: 1, recovery_threshold: 1 });
    await call(first, 'update', 'cubbyhole/x', { a: '1' }, root_token);
    await first.close();

    const newKey = randomBytes(32);
    await expect(checkedCore({ storage, seal: { type: 'static', key: newKey } })).rejects.toThrow(
      /was sealed with another key than that of "static"/,
    );
    const both = await checkedCore({ storage, seal: { type: 'static', key: newKey, previousKey: key } });
    expect((await call(both, 'read', 'cubbyhole/x', {}, root_token)).data).toEqual({ a: '1' });
    await both.close();
    const last = await checkedCore({ storage, seal: { type: 'static', key: newKey } });
    expect((await call(last, 'read', 'cubbyhole/x', {}, root_token)).data).toEqual({ a: '1' });
    await last.close();
  });

  test('makes a root token of recovery keys, and new recovery keys of old ones; rotating the root key harms neither', async () => {
    const core = await checkedCore({ storage: memoryStorage(), seal });
    const { recovery_keys: keys, root_token: root } = await initialized(core, { recovery_shares: 3, recovery_threshold: 2 });
    expect((await call(core, 'update', 'sys/rotate/root', {}, root)).status).toBe(204);
    const without = (await call(core, 'update', 'sys/rotate/root/init', { secret_shares: 4, secret_threshold: 3 }, root)).data as {
      nonce: string;
    };
    expect(without).toMatchObject({ t: 1, n: 1, required: 2 });
    for (const key of keys.slice(0, 2)) {
      const given = await call(core, 'update', 'sys/rotate/root/update', { key, nonce: without.nonce }, root);
      expect(given.status).toBe(200);
      if (key === keys[1]) expect(given.data).toMatchObject({ complete: true, keys: [], keys_base64: [] });
    }

    const begun = (await call(core, 'update', 'sys/rotate/recovery/init', { secret_shares: 1, secret_threshold: 1 }, root)).data as {
      nonce: string;
    };
    await call(core, 'update', 'sys/rotate/recovery/update', { key: keys[0], nonce: begun.nonce }, root);
    const rotated = (await call(core, 'update', 'sys/rotate/recovery/update', { key: keys[2], nonce: begun.nonce }, root)).data as {
      keys: string[];
    };
    expect(rotated.keys).toHaveLength(1);

    const attempt = (await call(core, 'update', 'sys/generate-root-token/attempt', {}, root)).data as { otp: string; nonce: string };
    const old = await call(core, 'update', 'sys/generate-root-token/update', { key: keys[0], nonce: attempt.nonce }, root);
    expect([old.status, old.errors]).toEqual([400, ['root generation failed; incorrect key shares supplied']]);
    const done = (await call(core, 'update', 'sys/generate-root-token/update', { key: rotated.keys[0], nonce: attempt.nonce }, root))
      .data as {
      encoded_token: string;
    };
    const decoded = await call(core, 'update', 'sys/decode-token', { encoded_token: done.encoded_token, otp: attempt.otp });
    const { token } = decoded.data as { token: string };
    expect((await call(core, 'read', 'sys/mounts', {}, token)).status).toBe(200);
    await core.close();
  });

  test('an operator who seals it opens it with recovery keys, which count as the wire records', async () => {
    const core = await checkedCore({ storage: memoryStorage(), seal });
    const { root_token, recovery_keys: keys } = await initialized(core, { recovery_shares: 2, recovery_threshold: 2 });
    await call(core, 'update', 'sys/seal', {}, root_token);
    const status = async (): Promise<object> => JSON.parse((await call(core, 'read', 'sys/seal-status')).raw!.body as string) as object;
    expect(await status()).toMatchObject({ sealed: true, t: 2, n: 2, progress: 0, warnings: [expect.stringContaining('sealed by hand')] });
    const unseal = async (key: string): Promise<CoreResponse> => call(core, 'update', 'sys/unseal', { key });
    await unseal(keys[0]!);
    expect(await status()).toMatchObject({ progress: 1 });
    const other = await initialized(await checkedCore({ storage: memoryStorage(), seal }), { recovery_shares: 2, recovery_threshold: 2 });
    await unseal(other.recovery_keys[0]!);
    expect(await status()).toMatchObject({ sealed: true, progress: 0 });
    await unseal(other.recovery_keys[0]!);
    const wrong = await unseal(other.recovery_keys[1]!);
    expect([wrong.status, wrong.errors]).toEqual([400, ['invalid key: these are not the recovery keys of this server']]);
    await unseal(keys[1]!);
    await unseal(keys[0]!);
    expect(await status()).toMatchObject({ sealed: false });
    expect((await call(core, 'read', 'sys/mounts', {}, root_token)).status).toBe(200);
    await core.close();
  });

  test('without recovery keys yet, it has them made later, and says so to who would unseal with one', async () => {
    const core = await checkedCore({ storage: memoryStorage(), seal });
    const { root_token, ...made } = await initialized(core, { recovery_shares: 0 });
    expect(made.recovery_keys ?? []).toEqual([]);
    expect(JSON.parse((await call(core, 'read', 'sys/seal-status')).raw!.body as string)).toMatchObject({ t: 0, n: 0, sealed: false });
    await call(core, 'update', 'sys/seal', {}, root_token);
    const refused = await call(core, 'update', 'sys/unseal', { key: 'ab'.repeat(32) });
    expect([refused.status, refused.errors]).toEqual([
      400,
      ['this server has no recovery keys yet: restart it, and its static seal opens it'],
    ]);
    await core.close();
  });

  test('opens the store of an earlier version, whose root key the static key encrypts itself, and puts it into an envelope', async () => {
    const storage = lasting(memoryStorage());
    const first = await checkedCore({ storage, seal });
    const { root_token } = await initialized(first, { recovery_shares: 1, recovery_threshold: 1 });
    const wraps = JSON.parse(Buffer.from((await storage.get('core/seal-wraps'))!.value).toString()) as {
      id: string;
      wraps: { blob: string }[];
    };
    await first.close();
    const sealKey = unsealWith(key, `core/seal-wraps/${wraps.id}`, Buffer.from(wraps.wraps[0]!.blob, 'base64'));
    const rootKey = unsealWith(sealKey, 'core/root-key', (await storage.get('core/root-key'))!.value);
    const earlier = async () =>
      storage.commit({ put: [{ key: 'core/root-key', value: sealWith(key, 'core/root-key', rootKey) }], delete: ['core/seal-wraps'] });

    await earlier();
    await expect(checkedCore({ storage, seal: { type: 'static', key: randomBytes(32) } })).rejects.toThrow(/was sealed with another key/);
    for (const with_ of [seal, { type: 'static' as const, key: randomBytes(32), previousKey: key }]) {
      await earlier();
      const again = await checkedCore({ storage, seal: with_ });
      expect((await call(again, 'read', 'sys/mounts', {}, root_token)).status).toBe(200);
      expect(await storage.get('core/seal-wraps')).toBeDefined();
      await again.close();
    }
  });
});
