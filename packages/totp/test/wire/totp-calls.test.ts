import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { checkedCore, type Difference, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import { totpEngine } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./totp-calls.json', import.meta.url), 'utf8')) as RecordedCall[];
/** The first is 1. */
const numberOf = (call: string, wanted: Record<string, unknown>): number =>
  1 +
  calls.findIndex(
    (entry) => entry.call === call && Object.entries(wanted).every(([name, value]) => (entry.body as never)?.[name] === value),
  );

const why = 'the answer says what would be right';
const algorithm = { why, status: 400, errors: ['the algorithm value is not valid: it can be SHA1, SHA256 or SHA512'] };
const differences: Readonly<Record<number, Difference>> = {
  [numberOf('POST wt/keys/b', { algorithm: 'MD5' })]: algorithm,
  [numberOf('POST wt/keys/u8', {})]: algorithm,
  [numberOf('POST wt/keys/u3', {})]: { why, status: 400, errors: ['url must begin with otpauth://totp/'] },
  [numberOf('POST wt/keys/u4', {})]: { why, status: 400, errors: [/^url must begin with otpauth:\/\/totp\/: other types/] },
  [numberOf('POST wt/keys/b', { period: -1 })]: { why, status: 400, errors: [/field "period": .*cannot provide negative value '-1'/] },
};

describe('the recorded calls of the secrets engine for one-time codes', () => {
  let core: Core;
  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), plugins: [totpEngine], devRootToken: 'root' });
  });
  afterAll(async () => core.close());
  recordedCalls({ test }, { calls, differences, core: () => core, values: () => ({}) });
});
