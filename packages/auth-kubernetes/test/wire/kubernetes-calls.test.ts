import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { checkedCore, type Difference, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { startKubernetesApi, type KubernetesApi } from '@strongroom/lab';
import { memoryStorage } from '@strongroom/storage-sdk';
import { kubernetesAuthWith } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./kubernetes-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const warned: Difference = { why: 'A role without an audience is stored with a warning.', status: 200 };
const refused: Difference = { why: 'Why a role is refused would tell that it exists.', status: 403, errors: ['permission denied'] };

describe('the recorded calls of the login by service accounts', () => {
  let api: KubernetesApi;
  let core: Core;
  let values: Readonly<Record<string, string>>;

  beforeAll(async () => {
    api = await startKubernetesApi();
    const expired = { issuedAt: -900, notBefore: -900, expires: -300 };
    values = {
      api: api.url,
      ca: api.ca,
      sapem: api.publicKey,
      reviewer: api.reviewer,
      sa: api.issue(),
      web: api.issue({ name: 'web-1' }),
      legacy: api.issue({ legacy: true }),
      othername: api.issue({ name: 'batch' }),
      otherns: api.issue({ namespace: 'prod' }),
      forged: api.issue({ forged: true }),
      expired: api.issue(expired),
      aud: api.issue({ audiences: ['strongroom', 'x'] }),
      gone: api.issue({ name: 'web-gone' }),
      uid_default_app: api.uidOf('default', 'app'),
      uid_default_web1: api.uidOf('default', 'web-1'),
      uid_prod_app: api.uidOf('prod', 'app'),
    };
    api.deleteAccount('default', 'web-gone');
    core = await checkedCore({
      storage: memoryStorage(),
      plugins: [kubernetesAuthWith({ podFolder: '/no/pod/here' })],
      devRootToken: 'root',
    });
  });
  afterAll(async () => {
    await core?.close();
    await api?.stop();
  });

  recordedCalls(
    { test },
    {
      calls,
      core: () => core,
      values: () => values,
      differences: {
        14: warned,
        22: refused,
        23: refused,
        27: { ...refused, why: 'An unknown role is answered as a token that is refused.' },
        34: refused,
        35: warned,
        37: refused,
        42: {
          why: 'The API server is down: no fault of the caller, who may try again.',
          status: 500,
          errors: [/the Kubernetes API server cannot be reached/],
        },
        44: { why: 'The caller asked for what cannot be: no fault of the server.', status: 400 },
      },
    },
  );
});
