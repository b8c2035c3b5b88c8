import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import fc from 'fast-check';
import { transitEngine } from '../src/index.ts';

/** The sizes that the blocks of ciphers and hashes make interesting, and any others. */
const bytes = fc
  .oneof(
    fc.uint8Array({ maxLength: 80 }),
    fc.constantFrom(0, 1, 15, 16, 17, 31, 32, 33, 4_095, 4_096).map((length) => new Uint8Array(length)),
  )
  .map((array) => Buffer.from(array).toString('base64'));
const notEmpty = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((array) => Buffer.from(array).toString('base64'));

const AEADS = ['aes128-gcm96', 'aes256-gcm96', 'chacha20-poly1305', 'xchacha20-poly1305'] as const;
const KEYS = AEADS.flatMap((type) => [
  { type, derived: false, convergent_encryption: false },
  { type, derived: true, convergent_encryption: false },
  { type, derived: true, convergent_encryption: true },
]);

describe('the laws of transit', () => {
  let mount: TestMount;
  let made = 0;
  beforeAll(async () => {
    mount = await mountForTest(transitEngine);
  });
  afterAll(async () => mount.close());

  type Answer = { readonly status: number; readonly data: Record<string, unknown>; readonly errors: readonly string[] | undefined };
  const call = async (path: string, data: Record<string, unknown>): Promise<Answer> => {
    const { status, data: answer, errors } = await mount.call('update', `transit/${path}`, { data });
    return { status, data: (answer ?? {}) as Record<string, unknown>, errors };
  };
  const ask = async (path: string, data: Record<string, unknown>): Promise<Record<string, unknown>> =>
    ((await mount.write(path, data)).data ?? {}) as Record<string, unknown>;
  const newKey = async (settings: Record<string, unknown>): Promise<string> => {
    const name = `k${(made += 1)}`;
    await ask(`keys/${name}`, settings);
    return name;
  };

  interface Kept {
    readonly plaintext: string;
    readonly place: Readonly<Record<string, string>>;
    readonly ciphertext: string;
    readonly version: number;
  }

  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('encrypt' as const),
        plaintext: bytes,
        context: notEmpty,
        associated: bytes,
        back: fc.nat(2),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('rotate' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('floor' as const), version: fc.nat(4) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('rewrap' as const), which: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('restore' as const) }) },
  );

  test.each(KEYS)(
    '%j: every ciphertext opens to its plaintext as long as its version may decrypt, whatever happens to the key',
    async (settings) => {
      const walk = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const key = await newKey({ ...settings, exportable: true, allow_plaintext_backup: true });
        const kept: Kept[] = [];
        let [latest, floor] = [1, 1];
        for (const one of steps) {
          if (one.do === 'rotate') {
            await ask(`keys/${key}/rotate`, {});
            latest += 1;
          } else if (one.do === 'floor') {
            floor = 1 + (one.version % latest);
            await ask(`keys/${key}/config`, { min_decryption_version: floor });
          } else if (one.do === 'restore') {
            const { backup } = (await mount.read(`backup/${key}`)).data as { backup: string };
            await ask(`restore/${key}`, { backup, force: true });
          } else if (one.do === 'rewrap') {
            const found = kept.filter(({ version }) => version >= floor)[one.which];
            if (!found) continue;
            const { ciphertext, key_version } = await ask(`rewrap/${key}`, { ...found.place, ciphertext: found.ciphertext });
            expect(key_version).toBe(latest);
            kept.push({ ...found, ciphertext: String(ciphertext), version: latest });
          } else {
            const version = Math.max(floor, latest - one.back);
            const place = {
              ...(settings.derived ? { context: one.context } : {}),
              ...(one.associated === '' || settings.convergent_encryption ? {} : { associated_data: one.associated }),
            };
            const { ciphertext, key_version } = await ask(`encrypt/${key}`, { ...place, plaintext: one.plaintext, key_version: version });
            expect([key_version, String(ciphertext).split(':')[1]]).toEqual([version, `v${version}`]);
            kept.push({ plaintext: one.plaintext, place, ciphertext: String(ciphertext), version });
          }
          for (const { plaintext, place, ciphertext, version } of kept) {
            const answer = await call(`decrypt/${key}`, { ...place, ciphertext });
            if (version >= floor) expect(answer).toMatchObject({ status: 200, data: { plaintext } });
            else expect([answer.status, answer.errors?.join()]).toEqual([400, expect.stringContaining('disallowed by policy (too old)')]);
          }
        }
        // Two ciphertexts are the same text only where encryption is convergent, for one plaintext, context and version.
        const sources = new Map<string, string>();
        for (const { ciphertext, plaintext, place, version } of kept) {
          const source = JSON.stringify([plaintext, place, version]);
          if (settings.convergent_encryption) expect(sources.get(ciphertext) ?? source).toBe(source);
          else expect(sources.has(ciphertext)).toBe(false);
          sources.set(ciphertext, source);
        }
        if (settings.convergent_encryption) expect(sources.size).toBe(new Set(sources.values()).size);
      });
      await fc.assert(walk, { numRuns: 8 });
    },
  );

  test.each(AEADS)('%s: a ciphertext with any bit changed, or cut short, opens to nothing', async (type) => {
    const key = await newKey({ type });
    const property = fc.asyncProperty(bytes, fc.nat(), fc.nat(7), fc.boolean(), async (plaintext, at, bit, cut) => {
      const { ciphertext } = await ask(`encrypt/${key}`, { plaintext });
      const sealed = Buffer.from(String(ciphertext).slice('vault:v1:'.length), 'base64');
      sealed[at % sealed.length]! ^= 1 << bit;
      const changed = cut ? sealed.subarray(0, at % sealed.length) : sealed;
      const { status, data } = await call(`decrypt/${key}`, { ciphertext: `vault:v1:${changed.toString('base64')}` });
      expect([status, data['plaintext']]).toEqual([400, undefined]);
    });
    await fc.assert(property, { numRuns: 40 });
  });

  test('a batch answers as its items do one by one, and an item that fails leaves the others as they are', async () => {
    const key = await newKey({ type: 'aes256-gcm96', derived: true, convergent_encryption: true });
    const item = fc.record({
      plaintext: fc.oneof(bytes, fc.constant('no base64')),
      context: notEmpty,
      reference: fc.string({ maxLength: 5 }),
    });
    const property = fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 6 }), async (items) => {
      const alone = await Promise.all(items.map(async ({ plaintext, context }) => call(`encrypt/${key}`, { plaintext, context })));
      const { status, data } = await call(`encrypt/${key}`, { batch_input: items });
      const expected = alone.map((one, index) =>
        one.status === 200
          ? { ...one.data, reference: items[index]!.reference }
          : { error: one.errors!.join(), reference: items[index]!.reference },
      );
      expect(data['batch_results']).toEqual(expected);
      expect(status).toBe(alone.every((one) => one.status === 200) ? 200 : 400);
    });
    await fc.assert(property, { numRuns: 40 });
  });

  const SIGNERS = [
    ['rsa-2048', ['pss', 'pkcs1v15']],
    ['ecdsa-p256', ['']],
    ['ecdsa-p384', ['']],
    ['ecdsa-p521', ['']],
    ['ed25519', ['']],
  ] as const;
  const HASHES = ['sha1', 'sha2-224', 'sha2-256', 'sha2-384', 'sha2-512', 'sha3-224', 'sha3-256', 'sha3-384', 'sha3-512'];

  test.each(SIGNERS)(
    '%s: a signature is good for its input alone, in each form and with each hash, before and after a rotation',
    async (type, algorithms) => {
      const key = await newKey({ type });
      const how = fc.record({
        hash_algorithm: fc.constantFrom(...HASHES),
        signature_algorithm: fc.constantFrom(...algorithms),
        marshaling_algorithm: fc.constantFrom('asn1', 'jws'),
      });
      const property = fc.asyncProperty(bytes, bytes, how, fc.boolean(), async (input, other, scheme, rotates) => {
        const { signature } = await ask(`sign/${key}`, { ...scheme, input });
        if (rotates) await ask(`keys/${key}/rotate`, {});
        expect(await ask(`verify/${key}`, { ...scheme, input, signature })).toEqual({ valid: true });
        expect(await ask(`verify/${key}`, { ...scheme, input: other, signature })).toEqual({ valid: other === input });
        const { hmac } = await ask(`hmac/${key}`, { input, algorithm: scheme.hash_algorithm });
        expect(await ask(`verify/${key}`, { input, hmac, hash_algorithm: scheme.hash_algorithm })).toEqual({ valid: true });
        expect(await ask(`verify/${key}`, { input: other, hmac, hash_algorithm: scheme.hash_algorithm })).toEqual({
          valid: other === input,
        });
      });
      await fc.assert(property, { numRuns: type === 'rsa-2048' ? 8 : 25 });
    },
  );
});
