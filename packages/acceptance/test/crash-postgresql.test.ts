import { describe, test } from '@jest/globals';
import { postgresCrashStore } from '../src/torture/postgres-crash-store.ts';
import { crashCases } from './crash-cases.ts';

describe('a server on PostgreSQL that is killed at random moments under load', () => {
  const killed = crashCases();

  test('loses nothing while the database crashes and fails over, and its sessions and links end or freeze: 6 kills', async () => {
    await killed(6, await postgresCrashStore(), { faultEvery: 1 });
  }, 300_000);
});
