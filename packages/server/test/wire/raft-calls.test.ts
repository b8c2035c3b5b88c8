import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { recordedCalls, type Difference, type RecordedCall } from '@strongroom/engine-testkit';
import { startWireServer } from './wire-server.ts';

const calls = JSON.parse(readFileSync(new URL('./raft-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const NO_RAFT = 'there is no raft storage: every server of a store is active, and the storage has its own copies';
const OURS = 'what a caller did wrong is a 4xx here';
const SCHEDULED = 'scheduled snapshots exist here as in Vault Enterprise: one that is not there has a plain 404';
const absent: Difference = { why: NO_RAFT, status: 404 };

const differences: Readonly<Record<number, Difference>> = {
  ...Object.fromEntries([1, 2, 3, 4, 5, 6, 15, 16, 17, 18].map((call) => [call, absent])),
  9: { why: OURS, status: 400 },
  10: { why: OURS, status: 400 },
  ...Object.fromEntries([12, 13, 14].map((call) => [call, { why: SCHEDULED, status: 404, errors: [] }])),
  19: { why: NO_RAFT, status: 403 },
  20: { why: NO_RAFT, status: 403 },
  21: { why: NO_RAFT, status: 403 },
};

describe('the recorded calls of backup tools, and those of raft storage', () => {
  let server: Awaited<ReturnType<typeof startWireServer>>;
  beforeAll(async () => {
    server = await startWireServer();
  });
  afterAll(async () => server.stop());

  recordedCalls({ test }, { calls, differences, ask: (call, asked) => server.ask(call, asked) });
});
