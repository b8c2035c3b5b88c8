import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { checkerMissing } from '../src/consistency/checker.ts';
import { postgresCluster, type Cluster } from '../src/consistency/cluster.ts';
import { postgresFaults, processFaults } from '../src/consistency/faults.ts';
import { checkedRun } from './consistency-cases.ts';

const describeWithChecker = checkerMissing === undefined ? describe : describe.skip;

describeWithChecker(`three nodes on one PostgreSQL${checkerMissing === undefined ? '' : ` (skipped: ${checkerMissing})`}`, () => {
  let store: PostgresServer;
  let database: PostgresServer;
  let cluster: Cluster;
  beforeAll(async () => {
    const settings = ['max_connections=200'];
    [store, database] = await Promise.all([startPostgres({ settings }), startPostgres({ settings })]);
    cluster = await postgresCluster(3, store);
  }, 120_000);
  afterAll(async () => {
    await cluster?.close();
    await Promise.all([store?.stop(), database?.stop()]);
  }, 60_000);

  test('answer as one, while nodes freeze and die, links freeze and break, and the database crashes', async () => {
    const { history, verdict } = await checkedRun(cluster, [...processFaults(cluster), ...postgresFaults(cluster, store)], database);
    expect([verdict.illegal, verdict.unknown]).toEqual([[], []]);
    for (const model of ['register', 'token', 'once', 'uses', 'repeat']) expect(verdict.calls[model]).toBeGreaterThan(20);
    // Faults that hit nothing would prove nothing.
    expect(history.unknown).toBeGreaterThan(0);
  }, 180_000);
});
