import { expect, test } from '@jest/globals';
import { startPostgres } from '@strongroom/lab';
import { MigrationKills } from '../src/torture/migration-kills.ts';
import { postgresStore } from '../src/torture/postgres-store.ts';
import { SnapshotKills, type SnapshotStore } from '../src/torture/snapshot-kills.ts';

async function kill(kills: number, store?: SnapshotStore): Promise<void> {
  const run = await SnapshotKills.create(store);
  try {
    const { problems, taken, scheduled, restored, cutOff } = await run.run(kills, Math.random);
    expect(problems).toEqual([]);
    expect(taken + scheduled + restored + cutOff).toBeGreaterThanOrEqual(Math.floor((kills * 2) / 3));
  } finally {
    await run.dispose();
  }
}

test('a server that is killed while it takes or restores a snapshot has the old store or the new one, whole: 4 kills', async () => {
  await kill(4);
}, 300_000);

test('so it has on PostgreSQL: 2 kills', async () => {
  const postgres = await startPostgres({});
  try {
    await kill(2, postgresStore(postgres));
  } finally {
    await postgres.stop();
  }
}, 300_000);

test('a migration that is killed leaves the source as it was, and can begin again: 1 kill', async () => {
  const run = await MigrationKills.create();
  try {
    expect((await run.run(1, Math.random)).problems).toEqual([]);
  } finally {
    await run.dispose();
  }
}, 300_000);
