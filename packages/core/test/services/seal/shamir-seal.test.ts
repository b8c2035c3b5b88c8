import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkedCore, manualClock, type ManualClock } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core, CoreRequest, CoreResponse } from '../../../src/index.ts';

interface Initialized {
  readonly keys: string[];
  readonly keys_base64: string[];
  readonly root_token: string;
}

const bodyOf = (answer: CoreResponse): Record<string, unknown> => JSON.parse(answer.raw!.body as string) as Record<string, unknown>;

describe('a core that operators unseal', () => {
  let core: Core;
  let clock: ManualClock;
  let token: string | undefined;
  const call = async (operation: CoreRequest['operation'], path: string, data?: Record<string, unknown>): Promise<CoreResponse> =>
    core.handle({ operation, path, ...(data ? { data } : {}), ...(token === undefined ? {} : { token }) });
  const errorsOf = async (path: string, data: Record<string, unknown>): Promise<unknown> => {
    const answer = await call('update', path, data);
    return [answer.status, ...(answer.errors ?? ['no error'])];
  };
  const initialize = async (shares: number, threshold: number): Promise<Initialized> => {
    const made = bodyOf(await call('update', 'sys/init', { secret_shares: shares, secret_threshold: threshold })) as unknown as Initialized;
    token = made.root_token;
    return made;
  };
  const unseal = async (key: string): Promise<Record<string, unknown>> => bodyOf(await call('update', 'sys/unseal', { key }));
  const opened = async (shares = 3, threshold = 2): Promise<Initialized> => {
    const made = await initialize(shares, threshold);
    for (const key of made.keys.slice(0, threshold)) await unseal(key);
    expect(core.sealed).toBe(false);
    return made;
  };

  beforeEach(async () => {
    token = undefined;
    clock = manualClock();
    core = await checkedCore({ storage: memoryStorage(), clock });
  });
  afterEach(async () => core.close());

  test('refuses what cannot be a split of the key', async () => {
    const split = (shares: unknown, threshold: unknown) => ({ secret_shares: shares, secret_threshold: threshold });
    const prefix = 'invalid seal configuration: ';
    expect(await errorsOf('sys/init', {})).toEqual([400, `${prefix}shares must be at least one`]);
    expect(await errorsOf('sys/init', split(1, 2))).toEqual([400, `${prefix}threshold cannot be larger than shares`]);
    expect(await errorsOf('sys/init', split(3, 0))).toEqual([400, `${prefix}threshold must be at least one`]);
    expect(await errorsOf('sys/init', split(3, 1))).toEqual([400, `${prefix}threshold must be greater than one for multiple shares`]);
    expect(await errorsOf('sys/init', split(256, 2))).toEqual([400, `${prefix}shares must be less than 256`]);
    expect(await errorsOf('sys/init', { ...split(1, 1), recovery_shares: 1 })).toEqual([
      400,
      'parameters recovery_shares not applicable to seal type shamir',
    ]);
    expect(bodyOf(await call('read', 'sys/init'))).toEqual({ initialized: false });
  });

  test('is initialized once; one share is the key of 32 bytes, several have 33', async () => {
    const made = await initialize(5, 3);
    expect(made.keys.map((key) => key.length)).toEqual([66, 66, 66, 66, 66]);
    expect(made.keys_base64).toEqual(made.keys.map((key) => Buffer.from(key, 'hex').toString('base64')));
    expect(await errorsOf('sys/init', { secret_shares: 1, secret_threshold: 1 })).toEqual([400, 'Vault is already initialized']);
    expect(bodyOf(await call('read', 'sys/init'))).toEqual({ initialized: true });
    const other = await checkedCore({ storage: memoryStorage() });
    const single = await other.initialize({ secretShares: 1, secretThreshold: 1, recoveryShares: undefined, recoveryThreshold: undefined });
    expect(single.keys.map((key) => key.length)).toEqual([32]);
    await other.close();
  });

  test('reports the unsealing: progress, an attempt with a nonce, and nothing of the cluster before the end', async () => {
    expect(await errorsOf('sys/unseal', { key: 'ab'.repeat(16) })).toEqual([400, 'Vault is not initialized']);
    const { keys, keys_base64 } = await initialize(3, 3);
    const sealed = bodyOf(await call('read', 'sys/seal-status'));
    expect(sealed).toMatchObject({ type: 'shamir', initialized: true, sealed: true, t: 3, n: 3, progress: 0, nonce: '' });
    expect(Object.keys(sealed)).not.toContain('cluster_id');
    const first = await unseal(keys[0]!);
    expect(first).toMatchObject({ sealed: true, progress: 1 });
    expect(await unseal(keys[0]!)).toEqual(first);
    expect(await unseal(keys_base64[1]!)).toMatchObject({ sealed: true, progress: 2, nonce: first['nonce'] });
    expect(bodyOf(await call('update', 'sys/unseal', { reset: true }))).toMatchObject({ progress: 0, nonce: '' });
    const again = await unseal(keys[2]!);
    expect(again['nonce']).not.toBe(first['nonce']);
    await unseal(keys[1]!);
    const open = await unseal(keys[0]!);
    expect(open).toMatchObject({ sealed: false, progress: 0, cluster_name: expect.any(String) as unknown });
    expect(await errorsOf('sys/unseal', { reset: true })).toEqual([400, 'vault is unsealed']);
  });

  test('refuses shares that are none, and drops wrong ones when they are complete', async () => {
    const { keys } = await initialize(1, 1);
    const missing = "'key' must be specified in request body as JSON, or 'reset' set to true";
    expect(await errorsOf('sys/unseal', {})).toEqual([400, missing]);
    expect(await errorsOf('sys/unseal', { key: '*' })).toEqual([400, "'key' must be a valid hex or base64 string"]);
    expect(await errorsOf('sys/unseal', { key: 'abcd' })).toEqual([400, 'invalid key: key is shorter than minimum 16 bytes']);
    expect(await errorsOf('sys/unseal', { key: 'ab'.repeat(32) })).toEqual([
      400,
      'unable to retrieve stored keys: invalid key: failed to decrypt keys from storage: cipher: message authentication failed',
    ]);
    expect(bodyOf(await call('read', 'sys/seal-status'))).toMatchObject({ sealed: true, progress: 0 });
    expect(await unseal(keys[0]!)).toMatchObject({ sealed: false });
  });

  test('answers health by its state, and with the codes that the caller chooses', async () => {
    const status = async (data?: Record<string, unknown>): Promise<number> => (await call('read', 'sys/health', data)).status;
    expect(await status()).toBe(501);
    expect(await status({ uninitcode: '299' })).toBe(299);
    const { keys } = await initialize(1, 1);
    expect(await status()).toBe(503);
    expect(bodyOf(await call('read', 'sys/health'))).toMatchObject({ standby: true, replication_dr_mode: 'unknown' });
    expect(await status({ sealedcode: '299', haunhealthycode: '299' })).toBe(299);
    await unseal(keys[0]!);
    expect(await status()).toBe(200);
    expect((await call('header', 'sys/health')).status).toBe(200);
    expect(await status({ activecode: 'x' })).toBe(400);
    expect(await status({ activecode: '204' })).toBe(204);
    const wrong = await call('update', 'sys/health');
    expect([wrong.status, wrong.errors]).toEqual([405, []]);
  });

  test('says of everything else that it is sealed', async () => {
    await initialize(1, 1);
    for (const path of ['sys/mounts', 'secret/x', 'auth/token/lookup-self', 'sys/internal/ui/mounts']) {
      const answer = await call('read', path);
      expect([answer.status, answer.errors]).toEqual([503, ['Vault is sealed']]);
    }
    expect((await call('help', 'sys/health')).status).toBe(503);
  });

  test('is sealed by root or sudo alone, and keeps its tokens', async () => {
    const { keys, root_token } = await opened();
    await call('update', 'sys/policies/acl/half', { policy: 'path "sys/seal" { capabilities = ["update"] }' });
    const half = (await call('update', 'auth/token/create', { policies: ['half'] })).auth!.client_token;
    token = undefined;
    expect((await call('update', 'sys/seal')).status).toBe(403);
    token = half;
    expect((await call('update', 'sys/seal')).status).toBe(403);
    token = root_token;
    expect((await call('update', 'sys/seal')).status).toBe(204);
    expect(core.sealed).toBe(true);
    await unseal(keys[2]!);
    await unseal(keys[1]!);
    token = half;
    expect((await call('read', 'auth/token/lookup-self')).status).toBe(200);
    token = root_token;
    expect((await call('update', 'sys/step-down')).status).toBe(204);
  });

  test('gets new shares for the old ones, which are worthless then', async () => {
    const { keys } = await opened();
    expect(await errorsOf('sys/rotate/root/update', { key: keys[0], nonce: 'x' })).toEqual([400, 'no rotation in progress']);
    expect((await call('read', 'sys/rotate/root/init')).data).toEqual({ started: false, t: 0, n: 0, required: 2 });
    const begun = (await call('update', 'sys/rotate/root/init', { secret_shares: 5, secret_threshold: 3 })).data as { nonce: string };
    expect(begun).toMatchObject({ started: true, t: 3, n: 5, required: 2, progress: 0 });
    expect(await errorsOf('sys/rotate/root/init', { secret_shares: 1, secret_threshold: 1 })).toEqual([
      400,
      'rotation already in progress',
    ]);
    const { nonce } = begun;
    expect(await errorsOf('sys/rotate/root/update', { key: keys[0], nonce: 'x' })).toEqual([
      400,
      `incorrect nonce supplied; nonce for rotation is "${nonce}"`,
    ]);
    expect(await errorsOf('sys/rotate/root/update', { key: 'abcd', nonce })).toEqual([400, 'key is shorter than minimum 16 bytes']);
    expect((await call('update', 'sys/rotate/root/update', { key: keys[0], nonce })).data).toMatchObject({ progress: 1 });
    expect(await errorsOf('sys/rotate/root/update', { key: keys[0], nonce })).toEqual([
      400,
      'given key has already been provided during this rotation',
    ]);
    const done = (await call('update', 'sys/rotate/root/update', { key: keys[2], nonce })).data as { keys: string[] };
    expect(done).toMatchObject({ complete: true, nonce, verification_required: false });
    expect(done.keys).toHaveLength(5);
    await call('update', 'sys/seal');
    await unseal(keys[0]!);
    const old = await call('update', 'sys/unseal', { key: keys[1] });
    expect(old.status === 200 && !core.sealed).toBe(false);
    await call('update', 'sys/unseal', { reset: true });
    for (const key of done.keys.slice(2)) await unseal(key);
    expect(core.sealed).toBe(false);
  });

  test('takes new shares into use only after they were given once, where that is asked', async () => {
    const { keys } = await opened();
    const begun = (await call('update', 'sys/rotate/root/init', { secret_shares: 1, secret_threshold: 1, require_verification: true }))
      .data as { nonce: string };
    expect(await errorsOf('sys/rotate/root/verify', { key: keys[0], nonce: begun.nonce })).toEqual([
      400,
      'no rotation verification in progress',
    ]);
    await call('update', 'sys/rotate/root/update', { key: keys[0], nonce: begun.nonce });
    const made = (await call('update', 'sys/rotate/root/update', { key: keys[1], nonce: begun.nonce })).data as {
      keys: string[];
      verification_nonce: string;
    };
    const nonce = made.verification_nonce;
    expect((await call('read', 'sys/rotate/root/verify')).data).toEqual({ nonce, started: true, t: 1, n: 1, progress: 0 });
    expect(await errorsOf('sys/rotate/root/verify', { key: keys[0], nonce })).toEqual([
      400,
      'rotation verification failed; incorrect key shares supplied',
    ]);
    expect(await errorsOf('sys/rotate/root/verify', { key: made.keys[0], nonce })).toEqual([
      400,
      expect.stringContaining('incorrect nonce supplied; nonce for this verify operation is') as unknown,
    ]);
    await call('update', 'sys/seal');
    await unseal(keys[0]!);
    await unseal(keys[1]!);
    expect(core.sealed).toBe(false);
    const { nonce: again } = (await call('read', 'sys/rotate/root/verify')).data as { nonce: string };
    expect((await call('update', 'sys/rotate/root/verify', { key: made.keys[0], nonce: again })).data).toEqual({
      complete: true,
      nonce: again,
    });
    await call('update', 'sys/seal');
    expect(await unseal(made.keys[0]!)).toMatchObject({ sealed: false });
  });

  test('makes a root token of the shares, encoded with a one-time password', async () => {
    const { keys } = await opened();
    const attempt = 'sys/generate-root-token/attempt';
    expect((await call('read', attempt)).data).toMatchObject({ started: false, progress: 0, required: 2, otp_length: 26 });
    expect(await errorsOf('sys/generate-root-token/update', { key: keys[0], nonce: '' })).toEqual([400, 'no root generation in progress']);
    expect(await errorsOf(attempt, { otp: 'short' })).toEqual([400, 'OTP string has incorrect length']);
    const begun = (await call('update', attempt)).data as { otp: string; nonce: string };
    expect(begun.otp).toHaveLength(26);
    expect(await errorsOf(attempt, {})).toEqual([400, 'root generation already in progress for this namespace']);
    // Those who need it have no token: the shares are the right to it.
    token = '';
    await call('update', 'sys/generate-root-token/update', { key: keys[0], nonce: begun.nonce });
    const done = (await call('update', 'sys/generate-root-token/update', { key: keys[1], nonce: begun.nonce })).data as {
      encoded_token: string;
    };
    expect(done).toMatchObject({ complete: true, progress: 2 });
    const decoded = (await call('update', 'sys/decode-token', { encoded_token: done.encoded_token, otp: begun.otp })).data as {
      token: string;
    };
    token = decoded.token;
    expect((await call('read', 'auth/token/lookup-self')).data).toMatchObject({
      policies: ['root'],
      path: 'auth/token/root',
      orphan: true,
    });
    expect((await call('read', attempt)).data).toMatchObject({ started: false });
  });

  test('gives no root token for wrong shares', async () => {
    await opened();
    const begun = (await call('update', 'sys/generate-root-token/attempt')).data as { nonce: string };
    const wrong = (byte: string): string => byte.repeat(32) + (byte === 'aa' ? '01' : '02');
    await call('update', 'sys/generate-root-token/update', { key: wrong('aa'), nonce: begun.nonce });
    const answer = await call('update', 'sys/generate-root-token/update', { key: wrong('bb'), nonce: begun.nonce });
    expect(answer.status).toBe(400);
    expect((await call('delete', 'sys/generate-root-token/attempt')).status).toBe(204);
  });

  describe('an attempt to make a root token', () => {
    const ATTEMPT = 'sys/generate-root-token/attempt';
    const UPDATE = 'sys/generate-root-token/update';
    const REFUSED =
      '1 error occurred:\n\t* nonce: cancelling a root generation takes its nonce, or a token whose policy allows delete on sys/generate-root-token/attempt\n\n';
    const refusal = ({ status, errors }: CoreResponse): unknown => [status, ...(errors ?? ['no error'])];
    const started = async (): Promise<boolean> => ((await call('read', ATTEMPT)).data as { started: boolean }).started;
    const shownNonce = async (): Promise<string> => ((await call('read', ATTEMPT)).data as { nonce: string }).nonce;
    /** Started by nobody that the server knows; the nonce is the starter's. */
    const start = async (): Promise<string> => {
      token = undefined;
      return ((await call('update', ATTEMPT)).data as { nonce: string }).nonce;
    };
    const tokenWith = async (root: string, rules: string, order: Record<string, unknown> = {}): Promise<string> => {
      token = root;
      await call('update', 'sys/policies/acl/cancels', { policy: rules });
      return (await call('update', 'auth/token/create', { policies: ['cancels'], ...order })).auth!.client_token;
    };

    test('is not cancelled by anybody who has neither its nonce nor a token that may', async () => {
      const { root_token } = await opened();
      const weak = await tokenWith(root_token, `path "${ATTEMPT}" { capabilities = ["read", "update"] }`);
      await start();
      for (const who of [undefined, 's.nobody', weak]) {
        token = who;
        expect(refusal(await call('delete', ATTEMPT))).toEqual([403, REFUSED]);
      }
      token = undefined;
      expect(refusal(await call('delete', ATTEMPT, { nonce: '' }))).toEqual([403, REFUSED]);
      expect((await call('delete', 'sys/generate-root/attempt')).status).toBe(405);
      expect(await started()).toBe(true);
    });

    test('is cancelled with its nonce, without any token; where none runs, everybody hears 204', async () => {
      await opened();
      const nonce = await start();
      const wrong = await call('delete', ATTEMPT, { nonce: 'another' });
      expect(refusal(wrong)).toEqual([
        400,
        'incorrect nonce supplied; the answer that started this root generation operation has the right one',
      ]);
      expect(await started()).toBe(true);
      expect((await call('delete', ATTEMPT, { nonce })).status).toBe(204);
      expect(await started()).toBe(false);
      expect((await call('delete', ATTEMPT)).status).toBe(204);
    });

    test('is cancelled without the nonce by a token whose policy allows delete on it', async () => {
      const { root_token } = await opened();
      const able = await tokenWith(root_token, `path "${ATTEMPT}" { capabilities = ["delete"] }`);
      for (const who of [able, root_token]) {
        await start();
        token = who;
        expect((await call('delete', ATTEMPT, { nonce: 'another' })).status).toBe(400);
        expect(await started()).toBe(true);
        expect((await call('delete', ATTEMPT)).status).toBe(204);
        expect(await started()).toBe(false);
      }
    });

    test('counts the use of a token of few uses that cancels it', async () => {
      const { root_token } = await opened();
      const once = await tokenWith(root_token, `path "${ATTEMPT}" { capabilities = ["delete"] }`, { num_uses: 1 });
      await start();
      token = once;
      expect((await call('delete', ATTEMPT)).status).toBe(204);
      await start();
      token = once;
      expect((await call('delete', ATTEMPT)).status).toBe(403);
    });

    test('shows its nonce to a token that may read it, and to nobody else', async () => {
      const { keys, root_token } = await opened();
      const nonce = await start();
      expect(await shownNonce()).toBe('');
      expect(refusal(await call('update', UPDATE, { key: keys[0], nonce: 'x' }))).toEqual([
        400,
        'incorrect nonce supplied; the answer that started this root generation operation has the right one',
      ]);
      token = root_token;
      expect(await shownNonce()).toBe(nonce);
      expect(refusal(await call('update', UPDATE, { key: keys[0], nonce: 'x' }))).toEqual([
        400,
        `incorrect nonce supplied; nonce for this root generation operation is "${nonce}"`,
      ]);
      token = undefined;
      expect((await call('update', UPDATE, { key: keys[0], nonce })).data).toMatchObject({ progress: 1, nonce });
    });

    test('ends a day after its last share, so that one whose nonce is lost blocks nobody', async () => {
      const { keys } = await opened();
      const nonce = await start();
      await clock.advance('23h');
      await call('update', UPDATE, { key: keys[0], nonce });
      await clock.advance('23h');
      expect(await started()).toBe(true);
      await clock.advance('1h');
      expect(await started()).toBe(false);
      expect(await errorsOf(UPDATE, { key: keys[1], nonce })).toEqual([400, 'no root generation in progress']);
    });
  });

  test('lets nobody cancel a rekey without a token that has sudo there', async () => {
    const { root_token } = await opened();
    await call('update', 'sys/rotate/root/init', { secret_shares: 5, secret_threshold: 3 });
    await call('update', 'sys/policies/acl/half', { policy: 'path "sys/rotate/root/*" { capabilities = ["read", "delete"] }' });
    const half = (await call('update', 'auth/token/create', { policies: ['half'] })).auth!.client_token;
    for (const who of [undefined, half]) {
      token = who;
      for (const path of ['sys/rotate/root/init', 'sys/rotate/root/verify']) expect((await call('delete', path)).status).toBe(403);
    }
    token = root_token;
    expect((await call('read', 'sys/rotate/root/init')).data).toMatchObject({ started: true });
    expect((await call('delete', 'sys/rotate/root/init')).status).toBe(204);
  });

  test('rotates the barrier key and the root key; what was written stays readable, the shares stay good', async () => {
    const { keys } = await opened();
    await call('update', 'cubbyhole/x', { a: '1' });
    const term = async (): Promise<unknown> => ((await call('read', 'sys/key-status')).data as { term: number }).term;
    expect(await term()).toBe(1);
    expect((await call('update', 'sys/rotate')).status).toBe(204);
    expect((await call('update', 'sys/rotate/keyring')).status).toBe(204);
    expect(await term()).toBe(3);
    expect((await call('update', 'sys/rotate/root')).status).toBe(204);
    await call('update', 'sys/seal');
    await unseal(keys[2]!);
    await unseal(keys[1]!);
    expect((await call('read', 'cubbyhole/x')).data).toEqual({ a: '1' });
    expect(await errorsOf('sys/rotate/config', { interval: '1h' })).toEqual([400, 'interval must be greater or equal to 24h0m0s']);
    expect(await errorsOf('sys/rotate/config', { max_operations: 5 })).toEqual([
      400,
      'max_operations must be in the range [1000000,3865470566]',
    ]);
  });

  test('answers the forms that asked for no token with 405', async () => {
    await opened();
    token = undefined;
    for (const path of ['sys/rekey/init', 'sys/rekey-recovery-key/init', 'sys/generate-root/attempt']) {
      const answer = await call('read', path);
      expect([path, answer.status, answer.errors]).toEqual([path, 405, ['unsupported operation']]);
    }
    expect((await call('read', 'sys/rotate/root/init')).status).toBe(403);
  });
});
