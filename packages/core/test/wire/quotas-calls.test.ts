import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { approleAuth } from '@strongroom/auth-approle';
import { userpassAuth } from '@strongroom/auth-userpass';
import { checkedCore, type Difference, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./quotas-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const differences: Readonly<Record<number, Difference>> = {
  13: { why: 'the text names the value, not a function of another language', status: 400, errors: [/"rate"/] },
  15: { why: 'the text shows the value as it was sent', status: 400, errors: [/"interval".*negative value '-1s'/] },
  16: { why: 'the text shows the value as it was sent', status: 400, errors: [/"block_interval".*negative value '-1s'/] },
  66: { why: 'caps on leases are offered here', status: 404, errors: [] },
  67: { why: 'caps on leases are offered here', status: 404, errors: [] },
  68: { why: 'caps on leases are offered here', status: 204 },
};

describe('the recorded calls of quotas', () => {
  let core: Core;
  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), plugins: [kvEngine, approleAuth, userpassAuth], devRootToken: 'root' });
  });
  afterAll(async () => core.close());

  recordedCalls({ test }, { calls, differences, core: () => core });
});
