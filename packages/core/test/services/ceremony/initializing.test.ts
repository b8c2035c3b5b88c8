import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkedCore, keptLog, sharedMemory } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { KeySeal } from '../../../src/index.ts';
import { decrypted, openPgp, operator, pgpKey, unseals } from './operators.ts';

const pgp = async () => openPgp;
const seal: KeySeal = { type: 'static', key: Buffer.alloc(32, 7) };

describe('an initialization with PGP keys', () => {
  test('encrypts shares and root token, each to its holder', async () => {
    const core = await checkedCore({ storage: memoryStorage(), pgp });
    const { data } = await operator(core, 'PUT sys/init', {
      secret_shares: 2,
      secret_threshold: 2,
      pgp_keys: [pgpKey('ann'), pgpKey('bob')],
      root_token_pgp_key: pgpKey('cid'),
    });
    expect(data.keys_base64).toEqual(data.keys.map((key) => Buffer.from(key, 'hex').toString('base64')));
    const shares = ['ann', 'bob'].map((name, at) => decrypted(Buffer.from(data.keys[at]!, 'hex'), name));
    expect(await unseals(core, shares)).toBe(true);
    const token = decrypted(Buffer.from(data.root_token, 'base64'), 'cid');
    expect((await operator(core, 'GET auth/token/lookup-self', undefined, { token })).data).toMatchObject({ policies: ['root'] });
    await core.close();
  });

  test.each(['', ' '])('is refused where a list of keys is the text %j, as of a script whose file is missing', async (text) => {
    const core = await checkedCore({ storage: memoryStorage(), seal, pgp });
    const order = { recovery_shares: 1, recovery_threshold: 1 };
    expect(await operator(core, 'PUT sys/init', { ...order, recovery_pgp_keys: text })).toMatchObject({
      status: 400,
      errors: ['recovery_pgp_keys is an empty text: send a list with a key for each share, or leave it out'],
    });
    const { data } = await operator(core, 'PUT sys/init', { ...order, recovery_pgp_keys: [] });
    const rekey = { secret_shares: 1, secret_threshold: 1, pgp_keys: text };
    expect((await operator(core, 'POST sys/rotate/recovery/init', rekey, { token: data.root_token })).status).toBe(400);
    await core.close();
  });

  test('writes nothing when any of them cannot be used', async () => {
    const core = await checkedCore({ storage: memoryStorage(), pgp });
    const good = { secret_shares: 1, secret_threshold: 1, pgp_keys: [pgpKey('ann')] };
    const refused: [Record<string, unknown>, string][] = [
      [{ ...good, root_token_pgp_key: 'bad!' }, 'root_token_pgp_key: error decoding given PGP key: illegal base64 data at input byte 3'],
      [{ ...good, root_token_pgp_key: 'YWJj' }, 'root_token_pgp_key: error parsing given PGP key: it is no key of this test'],
      [{ ...good, pgp_keys: ['YWJj'] }, 'invalid seal configuration: error parsing given PGP key: it is no key of this test'],
      [{ ...good, pgp_keys: [''] }, 'invalid seal configuration: error decoding given PGP key: illegal base64 data at input byte 0'],
      [{ ...good, recovery_pgp_keys: [pgpKey('bob')] }, 'parameters recovery_pgp_keys not applicable to seal type shamir'],
      [{ ...good, secret_shares: 0 }, 'invalid seal configuration: shares must be at least one'],
    ];
    for (const [order, text] of refused) {
      const { status, errors } = await operator(core, 'PUT sys/init', order);
      expect([status, errors]).toEqual([400, [text]]);
      expect((await operator(core, 'GET sys/init')).data).toEqual({ initialized: false });
    }
    await core.close();
  });

  test('says which package is missing, and works without keys', async () => {
    const core = await checkedCore({ storage: memoryStorage(), pgp: async () => undefined });
    const order = { secret_shares: 1, secret_threshold: 1 };
    const { status, errors } = await operator(core, 'PUT sys/init', { ...order, pgp_keys: [pgpKey('ann')] });
    expect(status).toBe(400);
    expect(errors![0]).toContain('npm install @strongroom/pgp');
    expect((await operator(core, 'PUT sys/init', order)).status).toBe(200);
    await core.close();
  });

  test('of an automatic seal encrypts its recovery shares, and init, status and rekey agree on their numbers', async () => {
    const core = await checkedCore({ storage: memoryStorage(), pgp, seal });
    const keys = ['ann', 'bob', 'cid'];
    const prefix = 'invalid recovery configuration: ';
    const order = { recovery_shares: 3, recovery_threshold: 2 };
    const foreign = await operator(core, 'PUT sys/init', { ...order, pgp_keys: [pgpKey('ann')] });
    expect(foreign.errors).toEqual(['parameters pgp_keys not applicable to seal type static']);
    const few = await operator(core, 'PUT sys/init', { recovery_pgp_keys: keys.map(pgpKey) });
    expect(few.errors).toEqual([`${prefix}count mismatch between number of provided PGP keys and number of shares`]);
    const { data } = await operator(core, 'PUT sys/init', { ...order, recovery_pgp_keys: keys.map(pgpKey) });
    expect(data).toMatchObject({ keys: [], keys_base64: [] });
    const shares = keys.map((name, at) => decrypted(Buffer.from(data.recovery_keys[at]!, 'hex'), name));
    const numbers = async (): Promise<unknown> => {
      const { data: status } = await operator(core, 'GET sys/seal-status');
      const { data: rekey } = await operator(core, 'GET sys/rotate/recovery/init', undefined, { token: data.root_token });
      const { data: attempt } = await operator(core, 'GET sys/generate-root-token/attempt');
      return [status.n, status.t, rekey.required, attempt.required];
    };
    expect(await numbers()).toEqual([3, 2, 2, 2]);
    const ask = async (call: string, body: Record<string, unknown>) => operator(core, call, body, { token: data.root_token });
    const { data: begun } = await ask('POST sys/rotate/recovery/init', { secret_shares: 1, secret_threshold: 1 });
    await ask('POST sys/rotate/recovery/update', { key: shares[0], nonce: begun.nonce });
    expect((await ask('POST sys/rotate/recovery/update', { key: shares[2], nonce: begun.nonce })).data).toMatchObject({
      complete: true,
    });
    expect(await numbers()).toEqual([1, 1, 1, 1]);
    await core.close();
  });
});

test('recovery shares that the initialization postponed are made by a token, and by nobody without one', async () => {
  const core = await checkedCore({ storage: memoryStorage(), seal, pgp });
  const { data: made } = await operator(core, 'PUT sys/init', { recovery_shares: 0, recovery_threshold: 0 });
  const none = expect.stringContaining('no recovery keys yet') as unknown;
  const open = { tokenless: ['rekey', 'generate-root'] as const };
  const order = { secret_shares: 2, secret_threshold: 2 };
  for (const call of [
    'PUT sys/rekey-recovery-key/init',
    'PUT sys/rekey/init',
    'PUT sys/generate-root/attempt',
    'PUT sys/generate-root-token/attempt',
  ]) {
    const { status, errors } = await operator(core, call, call.includes('rekey') ? order : {}, open);
    expect([call, status, errors]).toEqual([call, 400, [none]]);
  }
  const ask = async (call: string, body: Record<string, unknown>) => operator(core, call, body, { token: made.root_token });
  const { data: first } = await ask('POST sys/rotate/recovery/init', { ...order, pgp_keys: [pgpKey('ann'), pgpKey('bob')] });
  const shares = ['ann', 'bob'].map((name, at) => decrypted(Buffer.from(first.keys[at]!, 'hex'), name));
  expect(first).toMatchObject({ complete: true });
  const { data: attempt } = await operator(core, 'PUT sys/generate-root-token/attempt', {});
  for (const [at, key] of shares.entries()) {
    const { data } = await operator(core, 'PUT sys/generate-root-token/update', { key, nonce: attempt.nonce });
    expect(data).toMatchObject({ complete: at === 1 });
  }
  expect((await ask('POST sys/rotate/recovery/init', order)).data).toMatchObject({ started: true, required: 2 });
  await core.close();
});

describe('the root key of an automatic seal', () => {
  test('is replaced by recovery shares, while another server rotates the barrier key', async () => {
    const shared = sharedMemory();
    const first = await checkedCore({ storage: shared.open(), seal });
    const { data } = await operator(first, 'PUT sys/init', { recovery_shares: 1, recovery_threshold: 1 });
    const token: string = data.root_token;
    const driver = shared.open();
    const second = await checkedCore({ storage: driver, seal });
    driver.deafen();
    const { data: begun } = await operator(second, 'POST sys/rotate/root/init', {}, { token });
    expect(begun).toMatchObject({ t: 1, n: 1 });
    expect((await operator(first, 'POST sys/rotate/keyring', {}, { token })).status).toBe(204);
    await operator(first, 'PUT cubbyhole/of-the-new-term', { a: '1' }, { token });
    const update = { key: data.recovery_keys[0], nonce: begun.nonce };
    expect((await operator(second, 'POST sys/rotate/root/update', update, { token })).data).toMatchObject({ complete: true, keys: [] });
    const third = await checkedCore({ storage: shared.open(), seal });
    expect((await operator(third, 'GET cubbyhole/of-the-new-term', undefined, { token })).data).toEqual({ a: '1' });
    await Promise.all([first.close(), second.close(), third.close()]);
  });

  test('has no shares that could be encrypted, kept or verified', async () => {
    const core = await checkedCore({ storage: memoryStorage(), seal, pgp });
    const { data } = await operator(core, 'PUT sys/init', { recovery_shares: 1, recovery_threshold: 1 });
    for (const more of [{ pgp_keys: [pgpKey('ann')] }, { backup: true }, { require_verification: true }]) {
      const { status, errors } = await operator(core, 'POST sys/rotate/root/init', more, { token: data.root_token });
      expect([status, errors![0]]).toEqual([400, expect.stringContaining('has no shares')]);
    }
    await core.close();
  });
});

test('shares, new shares, tokens and passwords are neither in the audit nor in the log', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ceremony-'));
  const kept = keptLog();
  const file = join(folder, 'audit.log');
  const audit = { file: { type: 'file', options: { file_path: file } } };
  const core = await checkedCore({ storage: memoryStorage(), audit, log: kept.log, pgp });
  const secrets: string[] = [];
  const { data: made } = await operator(core, 'PUT sys/init', { secret_shares: 1, secret_threshold: 1 });
  secrets.push(made.keys[0]!, made.keys_base64[0]!, made.root_token);
  await unseals(core, made.keys);
  const token: string = made.root_token;
  const open = { tokenless: ['rekey', 'generate-root'] as const };
  const order = { secret_shares: 1, secret_threshold: 1, require_verification: true };
  const { data: begun } = await operator(core, 'PUT sys/rekey/init', order, open);
  const { data: rekeyed } = await operator(core, 'PUT sys/rekey/update', { key: made.keys[0]!, nonce: begun.nonce }, open);
  secrets.push(rekeyed.keys[0]!, rekeyed.keys_base64[0]!);
  const verify = { key: rekeyed.keys_base64[0], nonce: rekeyed.verification_nonce };
  expect((await operator(core, 'POST sys/rotate/root/verify', verify, { token })).data).toMatchObject({ complete: true });
  for (const [prefix, more] of [
    ['sys/generate-root/', open],
    ['sys/generate-root-token/', { token }],
  ] as const) {
    const { data: attempt } = await operator(core, `PUT ${prefix}attempt`, {}, more);
    const { data: done } = await operator(core, `PUT ${prefix}update`, { key: rekeyed.keys[0]!, nonce: attempt.nonce }, more);
    secrets.push(attempt.otp, done.encoded_token);
  }
  await core.close();
  const text = (await readFile(file, 'utf8')) + JSON.stringify(kept.lines);
  await rm(folder, { recursive: true });
  expect(text).toContain('sys/rekey/update');
  for (const [at, secret] of secrets.entries()) {
    expect([at, typeof secret, secret.length > 8]).toEqual([at, 'string', true]);
    if (text.includes(secret)) throw new Error(`secret ${at} is there in clear`);
  }
});
