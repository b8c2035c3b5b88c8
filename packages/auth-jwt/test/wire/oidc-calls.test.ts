import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { checkedCore, type Difference, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { addOpenidProvider, startOidcIssuer, type OidcIssuer } from '@strongroom/lab';
import { memoryStorage } from '@strongroom/storage-sdk';
import { oidcAuth } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./oidc-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const differences: Record<number, Difference> = {
  15: {
    why: 'A role that does not exist is answered as one that does not allow the redirect, so that the answer does not tell which roles there are.',
    status: 200,
  },
  17: {
    why: 'A refusal says why.',
    status: 405,
    errors: ['unsupported operation: oidc_response_mode is not form_post'],
  },
  19: {
    why: 'A login is answered alike whether the role exists, is of another type, or has not signed the token.',
    status: 400,
    errors: [/^error validating token: /],
  },
};

describe('the recorded calls of the login at a provider', () => {
  let core: Core;
  let issuer: OidcIssuer;
  beforeAll(async () => {
    issuer = await startOidcIssuer();
    // A person who agrees at once, at a provider that asks for patience twice.
    const provider = addOpenidProvider(issuer);
    provider.deviceRefusals.push('authorization_pending', 'slow_down');
    core = await checkedCore({ storage: memoryStorage(), plugins: [oidcAuth], devRootToken: 'root' });
    approve = () => provider.approveDevices();
  });
  afterAll(async () => {
    await core?.close();
    await issuer?.stop();
  });
  let approve: () => void;

  recordedCalls(
    { test },
    {
      calls,
      core: () => core,
      values: () => ({ idp: issuer.url, product: 'Strongroom' }),
      differences,
      before: async (number) => {
        if (number === 31) approve();
      },
    },
  );
});
