import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { userpassAuth } from '@strongroom/auth-userpass';
import { ask, bodyOf, checkedCore, manualClock, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core } from '../../src/index.ts';
import { codeAt } from './otp.ts';

const calls = JSON.parse(readFileSync(new URL('./login-mfa-calls.json', import.meta.url), 'utf8')) as RecordedCall[];
const NOT_OFFERED = 'Methods that call an outside service are not offered, and are refused by name.';

describe('the recorded calls of logins with a second factor', () => {
  const clock = manualClock(new Date('2030-01-01T00:00:05Z'));
  // No method of these types is created, so the recorded ids are those of none.
  const codes: Record<string, string> = { did: 'none', oid: 'none' };
  let core: Core;

  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), plugins: [userpassAuth], devRootToken: 'root', clock });
  });
  afterAll(async () => core.close());

  recordedCalls(
    { test },
    {
      calls,
      values: () => codes,
      ask: async (call, asked) => {
        const answer = await ask(core, call, asked);
        const { url } = (answer.data ?? {}) as { url?: string };
        if (url !== undefined) codes[Object.hasOwn(codes, 'code') ? 'code2' : 'code'] = codeAt(url, clock.millis());
        return { status: answer.status, body: bodyOf(answer) };
      },
      differences: {
        14: {
          why: 'A picture of -1 pixels is a mistake.',
          status: 400,
          errors: ['qr_size must be from 0, for no picture, to 2000 pixels'],
        },
        22: { why: 'A write to a method that does not exist stores nothing.', status: 404 },
        38: {
          why: 'A method in use is a mistake of the caller.',
          status: 400,
          errors: [/^1 error occurred:\n\t\* methodID is still used by an enforcement configuration with ID: [0-9a-f-]{36}\n\n$/],
        },
        81: { why: NOT_OFFERED, status: 400, errors: ['MFA methods of type duo are not offered: use totp'] },
        82: { why: NOT_OFFERED, status: 400 },
        83: { why: NOT_OFFERED, status: 400, errors: ['MFA methods of type okta are not offered: use totp'] },
        84: { why: NOT_OFFERED, status: 400 },
        85: { why: NOT_OFFERED, status: 400, errors: ['MFA methods of type pingid are not offered: use totp'] },
      },
      extraKeys: ['.data.mfa_secrets'],
    },
  );
});
