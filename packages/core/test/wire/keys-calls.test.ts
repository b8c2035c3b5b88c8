import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { ask, checkedCore, bodyOf, type Difference, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import { readPublicKey } from '@strongroom/pgp';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./keys-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const plain = 'the text shows no verbs of another language';
const nonce = 'the nonce is another one';
const differences: Readonly<Record<number, Difference>> = {
  11: {
    why: 'a backup without PGP keys is refused, as the older route does it',
    status: 400,
    errors: ['cannot request a backup of the new keys without providing PGP keys for encryption'],
  },
  13: {
    why: plain,
    status: 400,
    errors: ['invalid rotate seal configuration: count mismatch between number of provided PGP keys and number of shares'],
  },
  14: {
    why: plain,
    status: 400,
    errors: ['invalid rotate seal configuration: error parsing given PGP key: openpgp: invalid data: tag byte does not have MSB set'],
  },
  15: { why: plain, status: 400, errors: ['invalid rotate seal configuration: threshold must be greater than one for multiple shares'] },
  18: { why: nonce, status: 400, errors: [/^incorrect nonce supplied; nonce for rotation is "[0-9a-f-]{36}"$/] },
  21: { why: plain, status: 400, errors: ['key is shorter than minimum 16 bytes'] },
  22: { why: plain, status: 400, errors: ['rotation failed; incorrect key shares supplied'] },
  36: { why: plain, status: 400, errors: ['recovery keys not supported'] },
  42: { why: plain, status: 400, errors: ['failed to compute key for verification: duplicate part detected'] },
  58: {
    why: 'a wrong nonce is the mistake of the caller',
    status: 400,
    errors: [/^incorrect nonce supplied; nonce for this root generation operation is "[0-9a-f-]{36}"$/],
  },
  72: { why: nonce, status: 400, errors: [/^incorrect nonce supplied; nonce for this rekey operation is "[0-9a-f-]{36}"$/] },
  90: { why: 'both routes answer the same backup', status: 200 },
};

describe('the recorded calls of key ceremonies', () => {
  let core: Core;
  let unsealKey: string;
  let rootToken: string;
  const values = (): Record<string, string> => ({ UNSEAL: unsealKey });
  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), plugins: [kvEngine], pgp: async () => ({ readPublicKey }) });
    const made = await core.initialize({ secretShares: 1, secretThreshold: 1, recoveryShares: undefined, recoveryThreshold: undefined });
    unsealKey = made.keys[0]!.toString('hex');
    ({ rootToken } = made);
    await core.unseal(made.keys[0]!);
    await ask(core, 'POST sys/mounts/secret', { token: rootToken, body: { type: 'kv', options: { version: '2' } } });
  });
  afterAll(async () => core.close());

  recordedCalls(
    { test },
    {
      calls,
      differences,
      values,
      extraKeys: ['.data.issue_time', '.data.renewable'],
      ask: async (call, asked) => {
        const token = asked.token === 'root' ? rootToken : asked.token;
        const answer = await ask(core, call, {
          ...asked,
          ...(token === undefined ? {} : { token }),
          tokenless: ['rekey', 'generate-root'],
        });
        return { status: answer.status, body: bodyOf(answer) };
      },
    },
  );
});
