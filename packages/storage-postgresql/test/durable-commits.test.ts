import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { postgresqlStorage } from '../src/index.ts';

let server: PostgresServer;

beforeAll(async () => {
  // What is not asked to be durable is written late, so that a crash undoes it.
  server = await startPostgres({ settings: ['wal_writer_delay=10s', 'synchronous_commit=on'] });
}, 120_000);
afterAll(() => server.stop(), 60_000);

describe('a commit that was answered outlives a crash of PostgreSQL where synchronous_commit is off', () => {
  const setOff = async (): Promise<unknown> => server.query('ALTER ROLE postgres SET synchronous_commit = off');
  afterEach(async () => server.query('ALTER ROLE postgres RESET synchronous_commit'));

  async function expectToOutlive(driver: StorageDriver): Promise<void> {
    await driver.commit({ put: [{ key: 'a', value: Buffer.from('kept') }] });
    await server.crash();
    await server.restart();
    expect(Buffer.from((await driver.get('a'))?.value ?? []).toString()).toBe('kept');
    await driver.close();
  }

  test('from the start', async () => {
    await setOff();
    await expectToOutlive(await postgresqlStorage({ connectionUrl: server.url, table: 'one' }));
  }, 60_000);

  // As after a failover to a server that is set up otherwise.
  test('once new connections find it so', async () => {
    const driver = await postgresqlStorage({ connectionUrl: server.url, table: 'other' });
    await setOff();
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'strongroom%'");
    await expectToOutlive(driver);
  }, 60_000);
});

test('that a crash can lose acknowledged commits is warned of at the start where the server runs with fsync off', async () => {
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (message: string) => warnings.push(message) };
  const driver = await postgresqlStorage({ connectionUrl: server.url, log });
  expect(warnings).toEqual([
    'fsync is off on the PostgreSQL server: a crash of its machine can lose commits that were acknowledged, or damage the store',
  ]);
  await driver.close();
});
