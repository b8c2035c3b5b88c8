import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { checkedCore, type RecordedCall, recordedCalls, type RecordedCalls } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import { userpassAuth } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./userpass-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const differences: RecordedCalls['differences'] = {
  13: { why: 'A login without a password is a mistake of the caller.', status: 400, errors: ['missing password'] },
  19: { why: 'A user who does not exist is not found.', status: 404, errors: ['username does not exist'] },
  22: {
    why: 'A renewal that is refused is no failure of the server.',
    status: 400,
    errors: ['1 error occurred:\n\t* failed to renew entry: policies have changed, not renewing\n\n'],
  },
};

describe('the recorded calls of userpass', () => {
  let core: Core;

  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), plugins: [userpassAuth], devRootToken: 'root' });
  });
  afterAll(async () => {
    await core?.close();
  });

  recordedCalls({ test }, { calls, core: () => core, differences });
});
