import { describe, expect, test } from '@jest/globals';
import { checkedCore, sharedMemory } from '@strongroom/engine-testkit';
import type { Core } from '../../../src/index.ts';
import { decrypted, openPgp, operator, pgpKey, unseals } from './operators.ts';

const ATTEMPT = 'PUT sys/generate-root-token/attempt';
const UPDATE = 'PUT sys/generate-root-token/update';

/** Servers on one store, with its two shares. */
async function servers(count: number): Promise<{ cores: Core[]; keys: string[]; more: () => Promise<Core> }> {
  const shared = sharedMemory();
  const cores: Core[] = [];
  let keys: string[] = [];
  const more = async (): Promise<Core> => {
    const core = await checkedCore({ storage: shared.open(), pgp: async () => openPgp });
    if (keys.length === 0) keys = (await operator(core, 'PUT sys/init', { secret_shares: 2, secret_threshold: 2 })).data.keys;
    expect(await unseals(core, keys)).toBe(true);
    return core;
  };
  while (cores.length < count) cores.push(await more());
  return { cores, keys, more };
}

describe('a root token of key shares', () => {
  test('is encrypted to a PGP key, and read by its holder alone', async () => {
    const { cores, keys } = await servers(1);
    const [core] = cores as [Core];
    const both = await operator(core, ATTEMPT, { pgp_key: pgpKey('ann'), otp: 'a'.repeat(26) });
    expect(both.errors).toEqual(['otp and pgp_key exclude each other: send one of them']);
    expect((await operator(core, ATTEMPT, { pgp_key: 'bad!' })).errors).toEqual([
      'error parsing PGP key: error decoding given PGP key: illegal base64 data at input byte 3',
    ]);
    const { data: begun } = await operator(core, ATTEMPT, { pgp_key: pgpKey('ann') });
    expect(begun).toMatchObject({ otp: '', pgp_fingerprint: 'fingerprint-of-key-ann' });
    await operator(core, UPDATE, { key: keys[0], nonce: begun.nonce });
    const { data: done } = await operator(core, UPDATE, { key: keys[1], nonce: begun.nonce });
    const token = decrypted(Buffer.from(done.encoded_token, 'base64'), 'ann');
    expect((await operator(core, 'GET auth/token/lookup-self', undefined, { token })).data).toMatchObject({ policies: ['root'] });
    await core.close();
  });

  test('is made once by two servers that get the last share at the same time', async () => {
    const { cores, keys } = await servers(2);
    const { data: begun } = await operator(cores[0]!, ATTEMPT, {});
    await operator(cores[1]!, UPDATE, { key: keys[0], nonce: begun.nonce });
    const answers = await Promise.all(cores.map(async (core) => operator(core, UPDATE, { key: keys[1], nonce: begun.nonce })));
    expect(answers.filter(({ data }) => data.complete === true)).toHaveLength(1);
    for (const { status } of answers) expect([200, 400]).toContain(status);
    expect((await operator(cores[0]!, UPDATE, { key: keys[1], nonce: begun.nonce })).errors).toEqual(['no root generation in progress']);
    await Promise.all(cores.map(async (core) => core.close()));
  });

  test('is no longer asked for when a server opens, so that a stranger blocks it at most until then', async () => {
    const { cores, more } = await servers(1);
    await operator(cores[0]!, ATTEMPT, {});
    expect((await operator(cores[0]!, ATTEMPT, {})).status).toBe(400);
    cores.push(await more());
    for (const core of cores) expect((await operator(core, 'GET sys/generate-root-token/attempt')).data).toMatchObject({ started: false });
    await Promise.all(cores.map(async (core) => core.close()));
  });

  test('comes by the older routes only where the listener allows it', async () => {
    const { cores, keys } = await servers(1);
    const [core] = cores as [Core];
    const open = { tokenless: ['generate-root'] as const };
    expect((await operator(core, 'PUT sys/generate-root/attempt', {}, { tokenless: ['rekey'] })).status).toBe(405);
    const { data: begun } = await operator(core, 'PUT sys/generate-root/attempt', {}, open);
    expect((await operator(core, 'GET sys/generate-root/attempt', undefined, open)).data).toMatchObject({ nonce: begun.nonce, otp: '' });
    await operator(core, 'PUT sys/generate-root/update', { key: keys[0], nonce: begun.nonce }, open);
    const { data: done } = await operator(core, 'PUT sys/generate-root/update', { key: keys[1], nonce: begun.nonce }, open);
    const decoded = await operator(core, 'PUT sys/decode-token', { encoded_token: done.encoded_root_token, otp: begun.otp });
    const { token } = decoded.data;
    expect((await operator(core, 'GET sys/mounts', undefined, { token })).status).toBe(200);
    await core.close();
  });
});
