import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { userpassAuth } from '@strongroom/auth-userpass';
import { checkedCore, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./identity-merge-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

describe('the recorded calls of merged entities', () => {
  let core: Core;

  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), plugins: [userpassAuth], devRootToken: 'root' });
  });
  afterAll(async () => core.close());

  recordedCalls({ test }, { calls, core: () => core, extraKeys: ['.data.mfa_secrets'] });
});
