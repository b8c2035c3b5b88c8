import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { checkedCore, type Difference, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { readPublicKey } from '@strongroom/pgp';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./pgp-init-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const differences: Readonly<Record<number, Difference>> = {
  20: {
    why: 'a migration that nobody configured is the mistake of the caller',
    status: 400,
    errors: ["can't perform a seal migration, no migration seal found"],
  },
  21: { why: 'there is no leader to ask for, so a sealed server answers too', status: 200 },
};

describe('the recorded calls of an initialization with PGP keys', () => {
  let core: Core;
  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), pgp: async () => ({ readPublicKey }) });
  });
  afterAll(async () => core.close());

  recordedCalls({ test }, { calls, differences, core: () => core });
});
