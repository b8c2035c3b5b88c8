import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { checkedCore, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { startOidcIssuer, type OidcIssuer, type SignOptions } from '@strongroom/lab';
import { memoryStorage } from '@strongroom/storage-sdk';
import { jwtAuth } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./jwt-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const alice = { sub: 'alice', groups: ['eng', 'ops'], email: 'alice@example.org', deep: { team: 'red' } };
const good = { ...alice, aud: 'strongroom', level: 5 };

/** The tokens that the recorded calls send, by their names there. Times are seconds from now. */
const tokens: Readonly<
  Record<string, { claims: object; times?: { iat?: number | null; nbf?: number; exp?: number | null }; sign?: SignOptions }>
> = {
  good: { claims: good },
  es: { claims: good, sign: { alg: 'ES256' } },
  ed: { claims: good, sign: { alg: 'EdDSA' } },
  none: { claims: good, sign: { alg: 'none' } },
  hs: { claims: good, sign: { alg: 'HS256' } },
  forged: { claims: good, sign: { forged: true } },
  skewed: { claims: good, times: { iat: -300, exp: -20 } },
  expired: { claims: good, times: { iat: -900, exp: -300 } },
  early: { claims: good, times: { nbf: 500 } },
  timeless: { claims: good, times: { iat: null, exp: null } },
  badiss: { claims: { ...good, iss: 'https://elsewhere.example' } },
  badaud: { claims: { ...good, aud: 'nope' } },
  noaud: { claims: { ...alice, level: 5 } },
  listaud: { claims: { ...good, aud: ['nope', 'other'] } },
  bob: { claims: { sub: 'bob', aud: 'strongroom' } },
  badgroup: { claims: { sub: 'alice', aud: 'strongroom', groups: ['hr'], level: 5 } },
  nolevel: { claims: { ...alice, aud: 'strongroom' } },
  strlevel: { claims: { ...good, level: '5' } },
  nosub: { claims: { aud: 'strongroom', groups: ['eng'], level: 5 } },
  nogroups: { claims: { sub: 'alice', aud: 'strongroom', level: 5 } },
  nummail: { claims: { sub: 'alice', aud: 'strongroom', groups: ['eng'], level: 5, email: 7 } },
  rel: { claims: { who: { id: 'deploy' }, ref: 'refs/heads/rel-7', team: 'red' } },
  feature: { claims: { who: { id: 'deploy' }, ref: 'refs/heads/try', team: 'red' } },
};

describe('the recorded calls of the login with a signed token', () => {
  let issuer: OidcIssuer;
  let core: Core;
  let values: Record<string, string>;

  beforeAll(async () => {
    issuer = await startOidcIssuer();
    core = await checkedCore({ storage: memoryStorage(), plugins: [jwtAuth], devRootToken: 'root' });
    values = { idp: issuer.url, espem: issuer.publicKey('ES256') };
    for (const [name, { claims, times = {}, sign }] of Object.entries(tokens))
      values[name] = issuer.sign({ ...claims, ...timed(times) }, sign);
  });
  afterAll(async () => {
    await core?.close();
    await issuer?.stop();
  });

  function timed(times: Readonly<Record<string, number | null>>): Record<string, number | undefined> {
    return Object.fromEntries(Object.entries(times).map(([name, at]) => [name, at === null ? undefined : issuer.clock() + at]));
  }

  recordedCalls(
    { test },
    {
      calls,
      core: () => core,
      values: () => values,
      differences: {
        6: {
          why: 'The text says why the keys cannot be fetched.',
          status: 400,
          errors: [/^error checking jwks URL: http:\/\/127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/],
        },
        7: {
          why: 'The reason is in the words of this server.',
          status: 400,
          errors: [/^error checking oidc discovery URL: http:\/\/127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/],
        },
        49: {
          why: 'Names of roles are not told: an unknown role answers as a wrong signature does.',
          status: 400,
          errors: ['error validating token: error verifying token signature: failed to verify id token signature'],
        },
        50: {
          why: 'The text names no library.',
          status: 400,
          errors: [
            'error validating token: error verifying token signature: oidc: malformed jwt: compact JWS format must have three parts',
          ],
        },
        72: {
          why: 'A refused renewal is no failure of the server.',
          status: 400,
          errors: ['1 error occurred:\n\t* failed to renew entry: role ci does not exist during renewal\n\n'],
        },
      },
    },
  );
});
