import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createCore, type Core } from '@strongroom/core';
import { memoryStorage } from '@strongroom/storage-sdk';
import { describeWithSlapd, type Slapd, startSlapd } from '@strongroom/lab';
import { readFileSync } from 'node:fs';
import { ask, bodyOf } from '../../../core/test/wire/caller.ts';
import { compareShapes, shapeOf, type RecordedCall } from '../../../core/test/wire/recorded-call.ts';
import { ldapAuth } from '../../src/index.ts';

interface RecordedLoginCall extends RecordedCall {
  readonly warnings?: readonly string[];
  readonly policies?: readonly string[];
}

const recordings = JSON.parse(readFileSync(new URL('./ldap-auth-calls.json', import.meta.url), 'utf8')) as RecordedLoginCall[];

describeWithSlapd('the recorded calls of the directory login', () => {
  let slapd: Slapd;
  let core: Core;
  const kept = new Map<string, string>();

  beforeAll(async () => {
    slapd = await startSlapd();
    core = await createCore({ storage: memoryStorage(), plugins: [ldapAuth], devRootToken: 'root' });
  });
  afterAll(async () => {
    await core?.close();
    await slapd?.stop();
  });

  const filled = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('$url', slapd.url)) as T;

  for (const [index, recorded] of recordings.entries()) {
    test(`${index + 1}. ${recorded.call} with ${Object.keys(recorded.body ?? {}).join(', ') || 'nothing'}`, async () => {
      const token = recorded.as === undefined ? 'root' : kept.get(recorded.as);
      const answer = await ask(core, recorded.call, { token, body: recorded.body && filled(recorded.body) });
      for (const name of Object.keys(recorded.keep ?? {})) kept.set(name, answer.auth!.client_token);
      expect({ status: answer.status, errors: answer.errors }).toEqual({ status: recorded.status, errors: recorded.errors });
      if (recorded.shape !== undefined) expect(compareShapes(recorded.shape, shapeOf(bodyOf(answer)))).toEqual({ wrong: [], extra: [] });
      if (recorded.data !== undefined) expect(answer.data).toEqual(filled(recorded.data));
      if (recorded.shape !== undefined) expect(answer.warnings).toEqual(recorded.warnings ?? null);
      if (recorded.policies !== undefined) expect(answer.auth!.policies).toEqual(recorded.policies);
    });
  }
});
