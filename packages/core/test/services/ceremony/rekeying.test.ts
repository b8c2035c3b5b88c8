import { describe, expect, test } from '@jest/globals';
import { checkedCore, KillableStorage, manualClock, sharedMemory, type SharedMemory } from '@strongroom/engine-testkit';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import type { Core, CoreOptions } from '../../../src/index.ts';
import { decrypted, openPgp, operator, pgpKey, unseals, type Answer } from './operators.ts';

const INIT = 'POST sys/rotate/root/init';
const UPDATE = 'POST sys/rotate/root/update';
const VERIFY = 'POST sys/rotate/root/verify';

interface House {
  readonly core: Core;
  readonly keys: readonly string[];
  readonly ask: (call: string, body?: Record<string, unknown>, on?: Core) => Promise<Answer>;
  readonly rootToken: string;
}

async function coreOver(storage: StorageDriver, more: Partial<CoreOptions> = {}): Promise<Core> {
  return checkedCore({ storage, pgp: async () => openPgp, ...more });
}

/** A store that is open, with shares in hex. */
async function opened(storage: StorageDriver, more: Partial<CoreOptions> = {}, shares = 2): Promise<House> {
  const core = await coreOver(storage, more);
  const made = await core.initialize({
    secretShares: shares,
    secretThreshold: shares,
    recoveryShares: undefined,
    recoveryThreshold: undefined,
  });
  const keys = made.keys.map((key) => key.toString('hex'));
  await unseals(core, keys);
  const { rootToken } = made;
  return { core, keys, rootToken, ask: async (call, body, on = core) => operator(on, call, body, { token: rootToken }) };
}

/** One more server on the store. */
async function another(shared: SharedMemory, keys: readonly string[]): Promise<Core> {
  const core = await coreOver(shared.open());
  expect(await unseals(core, keys)).toBe(true);
  return core;
}

describe('a rekey', () => {
  test('encrypts each new share to the key of its holder, and keeps a backup under both names', async () => {
    const { core, keys, ask } = await opened(memoryStorage());
    const order = { secret_shares: 3, secret_threshold: 2, pgp_keys: [pgpKey('ann'), pgpKey('bob'), pgpKey('ann')], backup: true };
    const { data: begun } = await ask(INIT, order);
    expect(begun).toMatchObject({ backup: true, pgp_fingerprints: ['ann', 'bob', 'ann'].map((name) => `fingerprint-of-key-${name}`) });
    await ask(UPDATE, { key: keys[0], nonce: begun.nonce });
    const { data: made } = await ask(UPDATE, { key: keys[1], nonce: begun.nonce });
    const messages = made.keys.map((key) => Buffer.from(key, 'hex'));
    const shares = ['ann', 'bob', 'ann'].map((name, at) => decrypted(messages[at]!, name));
    for (const path of ['sys/rotate/root/backup', 'sys/rekey/backup']) {
      const { data } = await ask(`GET ${path}`);
      expect(data).toMatchObject({
        nonce: begun.nonce,
        keys: { 'fingerprint-of-key-ann': [made.keys[0], made.keys[2]], 'fingerprint-of-key-bob': [made.keys[1]] },
      });
    }
    await ask('PUT sys/seal');
    expect(await unseals(core, keys)).toBe(false);
    expect(await unseals(core, shares.slice(1))).toBe(true);
    expect((await ask('DELETE sys/rekey/backup')).status).toBe(204);
    expect((await ask('GET sys/rotate/root/backup')).errors).toEqual(['no backed-up keys found']);
    await core.close();
  });

  test('refuses keys before it begins', async () => {
    const { core, ask } = await opened(memoryStorage());
    const order = { secret_shares: 2, secret_threshold: 2 };
    const prefix = 'invalid rotate seal configuration: ';
    const refused: [Record<string, unknown>, string][] = [
      [{ pgp_keys: [pgpKey('ann')] }, `${prefix}count mismatch between number of provided PGP keys and number of shares`],
      [{ pgp_keys: [pgpKey('ann'), 'bad!'] }, `${prefix}error decoding given PGP key: illegal base64 data at input byte 3`],
      [{ pgp_keys: [pgpKey('ann'), 'YWJj'] }, `${prefix}error parsing given PGP key: it is no key of this test`],
      [{ backup: true }, 'cannot request a backup of the new keys without providing PGP keys for encryption'],
    ];
    for (const [more, text] of refused) expect((await ask(INIT, { ...order, ...more })).errors).toEqual([text]);
    expect((await ask('GET sys/rotate/root/init')).data).toMatchObject({ started: false });
    await core.close();
  });

  test('goes on at every server of the store', async () => {
    const shared = sharedMemory();
    const { core, keys, ask } = await opened(shared.open());
    const second = await another(shared, keys);
    const { data: begun } = await ask(INIT, { secret_shares: 2, secret_threshold: 2, require_verification: true });
    expect((await ask(INIT, { secret_shares: 1, secret_threshold: 1 }, second)).errors).toEqual(['rotation already in progress']);
    expect((await ask(UPDATE, { key: keys[0], nonce: begun.nonce }, second)).data).toMatchObject({ progress: 1 });
    expect((await ask(UPDATE, { key: keys[0], nonce: begun.nonce })).errors).toEqual([
      'given key has already been provided during this rotation',
    ]);
    const { data: made } = await ask(UPDATE, { key: keys[1], nonce: begun.nonce });
    const [one, two] = made.keys;
    const nonce: string = made.verification_nonce;
    expect((await ask(VERIFY, { key: one, nonce }, second)).data).toMatchObject({ progress: 1 });
    expect((await ask(VERIFY, { key: two, nonce })).data).toEqual({ complete: true, nonce });
    for (const on of [core, second]) {
      expect((await ask('GET sys/rotate/root/init', undefined, on)).data).toEqual({ started: false, t: 0, n: 0, required: 2 });
      await ask('PUT sys/seal', undefined, on);
      expect(await unseals(on, keys)).toBe(false);
      expect(await unseals(on, [two!, one!])).toBe(true);
      await on.close();
    }
  });

  test('is carried through once, when two servers get the last share at the same time', async () => {
    const shared = sharedMemory();
    const { core, keys, ask } = await opened(shared.open());
    const second = await another(shared, keys);
    const { data: begun } = await ask(INIT, { secret_shares: 1, secret_threshold: 1 });
    await ask(UPDATE, { key: keys[0], nonce: begun.nonce });
    const answers = await Promise.all([core, second].map(async (on) => ask(UPDATE, { key: keys[1], nonce: begun.nonce }, on)));
    const complete = answers.filter(({ data }) => data.complete === true);
    expect(complete).toHaveLength(1);
    for (const { status } of answers) expect([200, 400]).toContain(status);
    await ask('PUT sys/seal');
    expect(await unseals(core, complete[0]!.data.keys)).toBe(true);
    await Promise.all([core.close(), second.close()]);
  });

  test('leaves the present shares in force until the new ones are verified, whenever the server dies', async () => {
    let finished = false;
    for (let commits = 0; !finished; commits += 1) {
      const shared = sharedMemory();
      const storage = new KillableStorage(shared.open());
      const { core, keys, ask } = await opened(storage);
      let made: string[] = [];
      let verified = false;
      const ceremony = async (): Promise<void> => {
        const pgpKeys = [pgpKey('ann'), pgpKey('bob')];
        const order = { secret_shares: 2, secret_threshold: 2, pgp_keys: pgpKeys, backup: true, require_verification: true };
        const { data: begun } = await ask(INIT, order);
        await ask(UPDATE, { key: keys[0], nonce: begun.nonce });
        const { data } = await ask(UPDATE, { key: keys[1], nonce: begun.nonce });
        const [one, two] = data.keys.map((key) => Buffer.from(key, 'hex'));
        made = [decrypted(one!, 'ann'), decrypted(two!, 'bob')];
        for (const key of made) verified = (await ask(VERIFY, { key, nonce: data.verification_nonce })).data.complete === true;
        finished = true;
      };
      storage.dieAfter(commits);
      await Promise.race([ceremony(), storage.noticed]);
      storage.die();
      const next = await coreOver(shared.open());
      // The last commit may have been made without an answer; then the new shares count. Never neither, never both.
      const old = await unseals(next, keys);
      expect([commits, old || (made.length > 0 && (await unseals(next, made)))]).toEqual([commits, true]);
      if (verified) expect(old).toBe(false);
      if (made.length === 0) expect(old).toBe(true);
      if (old && made.length > 0 && commits > 2) {
        // The ceremony goes on where it was.
        const { data } = await ask('GET sys/rotate/root/verify', undefined, next);
        await ask('DELETE sys/rotate/root/verify', undefined, next);
        expect(data).toMatchObject({ started: true, t: 2 });
        const nonce: string = (await ask('GET sys/rotate/root/verify', undefined, next)).data.nonce;
        for (const key of made) await ask(VERIFY, { key, nonce }, next);
        await ask('PUT sys/seal', undefined, next);
        expect(await unseals(next, made)).toBe(true);
      }
      await next.close();
      void core;
    }
  });

  test('starts the verification over with a new nonce, when wrong shares or one share twice were given', async () => {
    const { core, keys, ask } = await opened(memoryStorage());
    const { data: begun } = await ask(INIT, { secret_shares: 2, secret_threshold: 2, require_verification: true });
    await ask(UPDATE, { key: keys[0], nonce: begun.nonce });
    const { data: made } = await ask(UPDATE, { key: keys[1], nonce: begun.nonce });
    const [one, two] = made.keys;
    const again = await ask(UPDATE, { key: keys[0], nonce: begun.nonce });
    expect(again.errors).toEqual([expect.stringContaining('verification must be performed')]);
    const nonces = new Set<string>([made.verification_nonce]);
    const nonceNow = async (): Promise<string> => (await ask('GET sys/rotate/root/verify')).data.nonce;
    for (const wrong of [keys[0], one]) {
      const nonce = await nonceNow();
      expect((await ask(VERIFY, { key: one, nonce })).data).toMatchObject({ progress: 1 });
      expect((await ask(VERIFY, { key: wrong, nonce })).status).toBe(400);
      nonces.add(await nonceNow());
    }
    const { data: over } = await ask('DELETE sys/rotate/root/verify');
    expect(over).toMatchObject({ started: true, progress: 0 });
    nonces.add(over.nonce);
    expect(nonces.size).toBe(4);
    await ask(VERIFY, { key: two, nonce: over.nonce });
    expect((await ask(VERIFY, { key: one, nonce: over.nonce })).data).toMatchObject({ complete: true });
    await core.close();
  });

  test('that is cancelled before its verification brings back the backup that it replaced', async () => {
    const { core, keys, ask } = await opened(memoryStorage(), {}, 1);
    const order = { secret_shares: 1, secret_threshold: 1, pgp_keys: [pgpKey('ann')], backup: true };
    const { data: first } = await ask(INIT, order);
    const { data: made } = await ask(UPDATE, { key: keys[0], nonce: first.nonce });
    const share = decrypted(Buffer.from(made.keys[0]!, 'hex'), 'ann');
    const { data: second } = await ask(INIT, { ...order, require_verification: true });
    await ask(UPDATE, { key: share, nonce: second.nonce });
    const backup = async (): Promise<string> => (await ask('GET sys/rotate/root/backup')).data.nonce;
    expect(await backup()).toBe(second.nonce);
    await ask('DELETE sys/rotate/root/init');
    expect(await backup()).toBe(first.nonce);
    await core.close();
  });

  test('ends a day after the last present share, but waits for a verification as long as it takes', async () => {
    const clock = manualClock();
    const { core, keys, ask } = await opened(memoryStorage(), { clock });
    const started = async (): Promise<boolean> => (await ask('GET sys/rotate/root/init')).data.started;
    const order = { secret_shares: 1, secret_threshold: 1, require_verification: true };
    const { data: begun } = await ask(INIT, order);
    await clock.advance('23h');
    await ask(UPDATE, { key: keys[0], nonce: begun.nonce });
    await clock.advance('23h');
    expect(await started()).toBe(true);
    await clock.advance('1h');
    expect(await started()).toBe(false);
    expect((await ask(UPDATE, { key: keys[1], nonce: begun.nonce })).errors).toEqual(['no rotation in progress']);
    const { data: next } = await ask(INIT, order);
    await ask(UPDATE, { key: keys[0], nonce: next.nonce });
    const { data: made } = await ask(UPDATE, { key: keys[1], nonce: next.nonce });
    await clock.advance('49h');
    expect((await ask(VERIFY, { key: made.keys[0], nonce: made.verification_nonce })).data).toMatchObject({ complete: true });
    await core.close();
  });

  test('without a token answers only where the listener allows it, and is the same rekey', async () => {
    const { core, keys, ask } = await opened(memoryStorage(), {}, 1);
    const open = { tokenless: ['rekey'] as const };
    for (const call of [
      'GET sys/rekey/init',
      'PUT sys/rekey/init',
      'DELETE sys/rekey/init',
      'PUT sys/rekey/update',
      'GET sys/rekey/verify',
    ]) {
      const asked = await operator(core, call, { secret_shares: 1, secret_threshold: 1 }, { tokenless: ['generate-root'] });
      expect([call, asked.status, asked.errors]).toEqual([call, 405, ['unsupported operation']]);
    }
    const { data: begun } = await operator(
      core,
      'PUT sys/rekey/init',
      { secret_shares: 1, secret_threshold: 1, require_verification: true },
      open,
    );
    expect((await ask('GET sys/rotate/root/init')).data).toMatchObject({ nonce: begun.nonce });
    const { data: made } = await operator(core, 'PUT sys/rekey/update', { key: keys[0], nonce: begun.nonce }, open);
    expect(made).toMatchObject({ complete: true, verification_required: true });
    const { data: wrong } = await operator(core, 'DELETE sys/rekey/verify', undefined, open);
    const verified = await operator(core, 'PUT sys/rekey/verify', { key: made.keys[0], nonce: wrong.nonce }, open);
    expect(verified.data).toEqual({ nonce: wrong.nonce, complete: true });
    expect((await operator(core, 'GET sys/rekey/backup', undefined, open)).status).toBe(403);
    expect((await operator(core, 'GET sys/rekey-recovery-key/init', undefined, open)).errors).toEqual(['recovery rekeying not supported']);
    await core.close();
  });
});
