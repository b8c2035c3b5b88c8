import { afterAll, beforeAll, test } from '@jest/globals';
import { describeWhere, startPostgres, type PostgresServer } from '@strongroom/lab';
import { checkerMissing } from '../src/consistency/checker.ts';
import { setUp, type Started } from '../src/consistency/set-ups.ts';
import { checkedRun, expectExplained } from './consistency-cases.ts';

const missing = checkerMissing ?? setUp('etcd').missing;

describeWhere(missing, 'three nodes on three members of etcd', () => {
  let database: PostgresServer;
  let started: Started;
  beforeAll(async () => {
    database = await startPostgres({ settings: ['max_connections=200'] });
    started = await setUp('etcd').start();
  }, 120_000);
  afterAll(async () => {
    await started?.stop();
    await database?.stop();
  }, 60_000);

  test('answer as one, while nodes freeze and die, and members freeze, die and are cut off', async () => {
    expectExplained(await checkedRun(started, database), 20);
  }, 240_000);
});
