import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { checkedCore, type Difference, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import { approleAuth } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./approle-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const mistake = (text: string, status = 400): Difference => ({
  why: `A mistake of the caller is a ${status}, and its text is plain.`,
  status,
  errors: [text],
});

const differences: Record<number, Difference> = {
  20: {
    why: 'A login without a secret id gets the text of a wrong one, so that nobody learns which role ids exist.',
    status: 400,
    errors: ['invalid role or secret ID'],
  },
  21: mistake('missing role_id'),
  22: { why: 'A login is a write.', status: 405, errors: ['unsupported operation'] },
  29: mistake('role "none" does not exist'),
  33: mistake('failed to find accessor entry for secret_id_accessor: "x"', 404),
  34: mistake('at least one constraint should be enabled on the role'),
  35: mistake('role_id already in use'),
  37: mistake('failed to validate CIDR blocks: invalid CIDR address: zz'),
  44: mistake('failed to store secret_id: SecretID is already registered'),
  46: mistake(
    'failed to verify subset relationship between CIDR blocks on the role ["127.0.0.0/8"] and CIDR blocks on the secret ID ["10.0.0.0/8"]',
  ),
  48: mistake('source address "127.0.0.1" unauthorized by CIDR restrictions on the secret ID'),
  68: mistake('1 error occurred:\n\t* failed to renew entry: role "web" does not exist during renewal\n\n'),
};

describe('the recorded calls of the login of programs', () => {
  let core: Core;
  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), plugins: [approleAuth], devRootToken: 'root' });
  });
  afterAll(async () => core?.close());

  recordedCalls({ test }, { calls, core: () => core, differences });
});
