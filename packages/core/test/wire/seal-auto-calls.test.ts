import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { ask, bodyOf, checkedCore, type Difference, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./seal-auto-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

/** Why the server is sealed, and what opens it. */
const EXTRA = ['.warnings'];
const differences: Readonly<Record<number, Difference>> = {
  18: { why: 'the nonce is another one', status: 400, errors: [/^incorrect nonce supplied; nonce for rotation is "[0-9a-f-]{36}"$/] },
};

describe('the recorded calls of a server whose seal opens by itself', () => {
  let core: Core;
  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), seal: { type: 'static', key: Buffer.alloc(32, 7) } });
  });
  afterAll(async () => core.close());

  recordedCalls(
    { test },
    {
      calls,
      differences,
      extraKeys: EXTRA,
      ask: async (call, asked) => {
        const answer = await ask(core, call, { ...asked, tokenless: ['rekey', 'generate-root'] });
        return { status: answer.status, body: bodyOf(answer) };
      },
    },
  );
});
