import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ask, checkedCore, type Difference, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./core-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const differences: Readonly<Record<number, Difference>> = {
  38: { why: 'a misspelt field is named', status: 400, errors: ['no data provided', 'nodata is not a field here; did you mean data?'] },
};

describe('the recorded calls of command-line clients', () => {
  let core: Core;

  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), plugins: [kvEngine], devRootToken: 'root' });
    const mounted = await ask(core, 'POST sys/mounts/secret', { token: 'root', body: { type: 'kv', options: { version: '2' } } });
    expect(mounted.status).toBe(204);
  });
  afterAll(async () => core.close());

  recordedCalls({ test }, { calls, differences, core: () => core });
});
