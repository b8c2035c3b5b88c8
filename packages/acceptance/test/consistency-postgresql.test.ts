import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { checkerMissing } from '../src/consistency/checker.ts';
import { setUp, type Started } from '../src/consistency/set-ups.ts';
import { checkedRun, expectExplained } from './consistency-cases.ts';

const describeWithChecker = checkerMissing === undefined ? describe : describe.skip;

describeWithChecker(`three nodes on one PostgreSQL${checkerMissing === undefined ? '' : ` (skipped: ${checkerMissing})`}`, () => {
  let database: PostgresServer;
  let started: Started;
  beforeAll(async () => {
    database = await startPostgres({ settings: ['max_connections=200'] });
    // What can be set up here: a primary with a standby, or one PostgreSQL alone.
    const failover = setUp('failover');
    started = await (failover.missing === undefined ? failover : setUp('postgresql')).start();
  }, 120_000);
  afterAll(async () => {
    await started?.stop();
    await database?.stop();
  }, 60_000);

  test('answer as one, while nodes freeze and die, links freeze and break, and the database crashes and fails over', async () => {
    expectExplained(await checkedRun(started, database), 20);
  }, 240_000);
});
