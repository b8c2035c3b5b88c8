import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { checkedCore, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { describeWithSlapd, type Slapd, startSlapd } from '@strongroom/lab';
import { memoryStorage } from '@strongroom/storage-sdk';
import { ldapAuth } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./ldap-auth-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

describeWithSlapd('the recorded calls of the directory login', () => {
  let slapd: Slapd;
  let core: Core;

  beforeAll(async () => {
    slapd = await startSlapd();
    core = await checkedCore({ storage: memoryStorage(), plugins: [ldapAuth], devRootToken: 'root' });
  });
  afterAll(async () => {
    await core?.close();
    await slapd?.stop();
  });

  recordedCalls({ test }, { calls, core: () => core, values: () => ({ url: slapd.url }), extraKeys: ['.data.bindpass_set'] });
});
