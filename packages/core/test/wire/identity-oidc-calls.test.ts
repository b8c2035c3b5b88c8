import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ask, bodyOf, checkedCore, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core } from '../../src/index.ts';
import { passwordLogin } from '../password-login.ts';

const calls = JSON.parse(readFileSync(new URL('./identity-oidc-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

describe('the recorded calls of identity tokens and the OpenID provider', () => {
  let core: Core;

  beforeAll(async () => {
    core = await checkedCore({
      storage: memoryStorage(),
      plugins: [passwordLogin('userpass')],
      devRootToken: 'root',
      apiAddress: 'http://127.0.0.1:8200',
    });
  });
  afterAll(async () => core.close());

  recordedCalls(
    { test },
    {
      calls,
      core: () => core,
      differences: {
        25: {
          why: 'The text says where in the template the mistake is, in words that are not those of a JSON library.',
          status: 400,
          errors: ['error parsing template JSON: expected a key in quotes, at character 3'],
        },
        27: {
          why: 'Fields are decoded by one decoder, whose texts begin with `Field validation failed` and repeat the value as it was sent.',
          status: 400,
          errors: [`Field validation failed: error converting input for field "ttl": cannot provide negative value '-5s'`],
        },
      },
      extraKeys: ['.code_challenge_methods_supported'],
    },
  );

  test('an inactive token is explained in words of our own, which name no library', async () => {
    const introspect = async (token: string): Promise<unknown> =>
      bodyOf(await ask(core, 'POST identity/oidc/introspect', { token: 'root', body: { token } }));
    expect(await introspect('not.a.jwt')).toEqual({
      active: false,
      error: 'error parsing token: the header is not JSON in base64url',
    });
    expect(await introspect('')).toEqual({ active: false, error: 'error parsing token: a token has three parts, separated by dots' });
  });
});
