import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import { databaseEngine } from '../src/index.ts';
import { faultyDatabase, type FaultyDatabase } from './faulty-plugin.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('the settings of a deleted connection', () => {
  let storage: StorageDriver;
  let database: FaultyDatabase;
  let mount: TestMount;
  const lease = async () => (await mount.read('creds/app')).leaseId;
  const revoke = async (id: string | undefined) =>
    (await mount.call('update', 'sys/leases/revoke', { data: { lease_id: id, sync: true } })).status;
  const kept = async () => (await storage.range({ prefix: '', keysOnly: true })).filter(({ key }) => key.includes('/retired/')).length;
  beforeEach(async () => {
    storage = memoryStorage();
    database = faultyDatabase();
    mount = await mountForTest(databaseEngine, { plugins: [database.plugin], storage });
    await mount.write('config/db', { plugin_name: 'faulty-database-plugin', host: 'h', allowed_roles: '*' });
    await mount.write('roles/app', { db_name: 'db', creation_statements: '{}', default_ttl: '1h' });
  });
  afterEach(async () => mount.close());

  test('go with the last user that was made with them, and so does its session', async () => {
    const leases = [await lease(), await lease()];
    await mount.delete('config/db');
    expect([await revoke(leases[0]), await kept(), database.users.size]).toEqual([204, 1, 1]);
    expect([await revoke(leases[1]), await kept(), database.users.size]).toEqual([204, 0, 0]);
    expect(database).toMatchObject({ opened: 2, closed: 2 });
  });

  test('go with that user also where the connection is deleted while the user is being removed', async () => {
    const id = await lease();
    database.nextDelete = async () => {
      await mount.delete('config/db');
      expect(await kept()).toBe(1);
    };
    expect([await revoke(id), await kept(), database.users.size]).toEqual([204, 0, 0]);
  });

  test('go where the connection is deleted before the commit that ends the last lease', async () => {
    const id = await lease();
    const { commit } = storage;
    let deleted = 0;
    storage.commit = async (change) => {
      if (deleted === 0 && change.delete?.some((key) => key.includes('/user/'))) {
        deleted += 1;
        await mount.delete('config/db');
        expect(await kept()).toBe(1);
      }
      return commit.call(storage, change);
    };
    expect([await revoke(id), deleted, await kept(), database.users.size]).toEqual([204, 1, 0, 0]);
  });
});
