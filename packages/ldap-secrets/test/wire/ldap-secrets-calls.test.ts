import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createCore, type Core } from '@strongroom/core';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { memoryStorage } from '@strongroom/storage-sdk';
import { ask, bodyOf } from '../../../core/test/wire/caller.ts';
import { compareShapes, shapeOf, type RecordedCall } from '../../../core/test/wire/recorded-call.ts';
import { ldapSecrets } from '../../src/index.ts';

const recordings = JSON.parse(readFileSync(new URL('./ldap-secrets-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

interface Deviation {
  readonly status: number;
  readonly errors?: readonly (string | RegExp)[];
}

/** Where the answer is another one on purpose, by the number of the call. The README says why. */
const DEVIATIONS: Readonly<Record<number, Deviation>> = {
  5: { status: 400, errors: ["cannot set both 'password_policy' and 'length'"] },
  6: { status: 400, errors: ['the configured schema odd is not valid. Supported schemas: [openldap racf ad]'] },
  16: { status: 400, errors: [/expected one matching entry, but received 0: base "ou=svc,dc=example,dc=org", filter \(uid=nosuch\)/] },
  28: { status: 400 },
  29: { status: 400, errors: ['missing creation_ldif'] },
  35: { status: 400, errors: [/^"svc12" is already managed by the secrets engine: it is in the set "set" of this mount/] },
  36: { status: 400, errors: [/expected one matching entry, but received 0/] },
  38: { status: 400, errors: ['max_ttl (3600 seconds) may not be less than ttl (7200 seconds)'] },
  47: { status: 400, errors: [/"nosuch" not found in the set/] },
  56: {
    status: 400,
    errors: [/^failed to revoke "wls\/library\/set\/check-out\/.*" \([12] \/ 2\): failed to revoke entry: the config is currently unset/],
  },
};

/** Keys beside the recorded ones. */
const EXTRA = ['.data.status', '.data.bindpass_set', '.data.root_rotation', '.data.svc11.rotation', '.data.svc12.rotation'];

describeWithSlapd('the recorded calls of the directory secrets engine', () => {
  let slapd: Slapd;
  let core: Core;
  const kept = new Map<string, string>();

  beforeAll(async () => {
    slapd = await startSlapd();
    core = await createCore({ storage: memoryStorage(), plugins: [ldapSecrets], devRootToken: 'root' });
  });
  afterAll(async () => {
    await core?.close();
    await slapd?.stop();
  });

  const filled = <T>(value: T): T => {
    let text = JSON.stringify(value).replaceAll('$url', slapd.url);
    for (const [name, known] of kept) text = text.replaceAll(`$${name}`, known);
    return JSON.parse(text) as T;
  };

  for (const [index, recorded] of recordings.entries()) {
    const number = index + 1;
    test(`${number}. ${recorded.call} with ${Object.keys(recorded.body ?? {}).join(', ') || 'nothing'}`, async () => {
      const answer = await ask(core, recorded.call, { token: 'root', body: recorded.body && filled(recorded.body) });
      const body = bodyOf(answer);
      for (const [name, where] of Object.entries(recorded.keep ?? {})) kept.set(name, String(valueAt(body, where)));
      const deviation = DEVIATIONS[number];
      expect({ status: answer.status, errors: answer.errors }).toMatchObject({ status: deviation?.status ?? recorded.status });
      if (deviation) {
        for (const [at, text] of (deviation.errors ?? []).entries())
          expect(answer.errors![at]).toEqual(text instanceof RegExp ? expect.stringMatching(text) : text);
        return;
      }
      if (recorded.errors) expect(answer.errors).toEqual(recorded.errors);
      if (recorded.shape !== undefined) {
        const { wrong, extra } = compareShapes(recorded.shape, shapeOf(body));
        expect(wrong).toEqual([]);
        expect(extra.filter((key) => !EXTRA.includes(key))).toEqual([]);
      }
      if (recorded.data !== undefined) expect(answer.data).toMatchObject(filled(recorded.data) as object);
    });
  }
});

function valueAt(value: unknown, where: string): unknown {
  return where.split('.').reduce((inner, key) => (inner as Record<string, unknown>)[key], value);
}
