import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { checkedCore, type Difference, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { memoryStorage } from '@strongroom/storage-sdk';
import { ldapSecrets } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./ldap-secrets-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const why = "a caller's mistake is a 400 that says what is wrong";
const differences: Readonly<Record<number, Difference>> = {
  5: { why, status: 400, errors: ["cannot set both 'password_policy' and 'length'"] },
  6: { why, status: 400, errors: ['the configured schema odd is not valid. Supported schemas: [openldap racf ad]'] },
  16: { why, status: 400, errors: [/expected one matching entry, but received 0: base "ou=svc,dc=example,dc=org", filter \(uid=nosuch\)/] },
  28: { why, status: 400 },
  29: { why, status: 400, errors: ['missing creation_ldif'] },
  35: { why, status: 400, errors: [/^"svc12" is already managed by the secrets engine: it is in the set "set" of this mount/] },
  36: { why, status: 400, errors: [/expected one matching entry, but received 0/] },
  38: { why, status: 400, errors: ['max_ttl (3600 seconds) may not be less than ttl (7200 seconds)'] },
  47: { why, status: 400, errors: [/"nosuch" not found in the set/] },
  56: {
    why,
    status: 400,
    errors: [/^failed to revoke "wls\/library\/set\/check-out\/.*" \([12] \/ 2\): failed to revoke entry: the config is currently unset/],
  },
};

describeWithSlapd('the recorded calls of the directory secrets engine', () => {
  let slapd: Slapd;
  let core: Core;

  beforeAll(async () => {
    slapd = await startSlapd();
    core = await checkedCore({ storage: memoryStorage(), plugins: [ldapSecrets], devRootToken: 'root' });
  });
  afterAll(async () => {
    await core?.close();
    await slapd?.stop();
  });

  recordedCalls(
    { test },
    {
      calls,
      differences,
      core: () => core,
      values: () => ({ url: slapd.url }),
      extraKeys: [
        '.data.status',
        '.data.bindpass_set',
        '.data.root_rotation',
        ...['svc11', 'svc12'].flatMap((account) =>
          ['rotation', 'borrower_name', 'borrowed_since', 'borrowed_until', 'borrowed_by_you'].map((key) => `.data.${account}.${key}`),
        ),
      ],
    },
  );
});
