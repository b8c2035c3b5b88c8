import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { createCore } from '@strongroom/core';
import { kvEngine } from '@strongroom/kv';
import { etcdMissing, startEtcd, startPostgres } from '@strongroom/lab';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import { runMigration } from '../src/index.ts';
import { migrateStorage, unlock } from '../src/migrate/migrate-storage.ts';
import { scratchFolder } from './scratch.ts';

jest.setTimeout(120_000);

const seal = { type: 'static', key: Buffer.alloc(32, 7) } as const;
const now = { wait: async () => undefined, say: () => undefined };

async function open(storage: StorageDriver) {
  const core = await createCore({ storage, plugins: [kvEngine], seal });
  return {
    core,
    call: async (operation: 'read' | 'update', path: string, token: string, data: object = {}) =>
      core.handle({ operation, path, token, data: data as Record<string, unknown> }),
  };
}

/** A store with a hundred secrets in it; its root token. */
async function filled(storage: StorageDriver): Promise<string> {
  const { core, call } = await open(storage);
  const { rootToken } = await core.initialize({
    secretShares: undefined,
    secretThreshold: undefined,
    recoveryShares: 1,
    recoveryThreshold: 1,
  });
  await call('update', 'sys/mounts/kv', rootToken, { type: 'kv' });
  for (let i = 0; i < 100; i++) await call('update', `kv/k${i}`, rootToken, { value: `v${i}` });
  await core.close();
  return rootToken;
}

async function expectAll(storage: StorageDriver, token: string): Promise<void> {
  const { core, call } = await open(storage);
  for (let i = 0; i < 100; i++) expect((await call('read', `kv/k${i}`, token)).data).toEqual({ value: `v${i}` });
  await core.close();
}

describe('a migration', () => {
  const etcdTest = etcdMissing() === undefined ? test : test.skip;
  etcdTest('from LMDB to etcd and back carries everything', async () => {
    const folder = scratchFolder();
    const etcd = await startEtcd();
    try {
      const lmdb = (name: string): string => `"lmdb" { path = ${JSON.stringify(join(folder, name))} }`;
      const onEtcd = `"etcd" { address = ${JSON.stringify(etcd.endpoints[0])} }`;
      const token = await filled(await lmdbStorage({ path: join(folder, 'first') }));
      const said: string[] = [];
      const migrate = async (from: string, to: string): Promise<void> => {
        const file = join(folder, 'migrate.hcl');
        writeFileSync(file, `storage_source ${from}\nstorage_destination ${to}\n`);
        await runMigration({ config: [file], reset: false, say: (text) => said.push(text) });
      };
      await migrate(lmdb('first'), onEtcd);
      await migrate(onEtcd, lmdb('third'));
      expect(said.filter((text) => text.startsWith('Migrated'))).toEqual([
        expect.stringMatching(/ from lmdb to etcd\.$/),
        expect.stringMatching(/ from etcd to lmdb\.$/),
      ]);
      await expectAll(await lmdbStorage({ path: join(folder, 'third') }), token);
    } finally {
      await etcd.stop();
    }
  });

  test('from LMDB to PostgreSQL and back carries everything, and servers open what came', async () => {
    const folder = scratchFolder();
    const postgres = await startPostgres({});
    try {
      const url = `postgresql://${postgres.superuser}:${postgres.password}@127.0.0.1:${postgres.port}/postgres?sslmode=disable`;
      const blocks = {
        first: `"lmdb" { path = ${JSON.stringify(join(folder, 'first'))} }`,
        second: `"postgresql" { connection_url = ${JSON.stringify(url)} }`,
        third: `"lmdb" { path = ${JSON.stringify(join(folder, 'third'))} }`,
      };
      const token = await filled(await lmdbStorage({ path: join(folder, 'first') }));
      const said: string[] = [];
      for (const [from, to] of [
        ['first', 'second'],
        ['second', 'third'],
      ] as const) {
        const file = join(folder, `${to}.hcl`);
        writeFileSync(file, `storage_source ${blocks[from]}\nstorage_destination ${blocks[to]}\ncluster_addr = "https://127.0.0.1:8201"\n`);
        await runMigration({ config: [file], reset: false, say: (text) => said.push(text) });
      }
      expect(said.filter((text) => text.startsWith('Migrated'))).toEqual([
        expect.stringMatching(/^Migrated \d+ records, \d+ bytes, from lmdb to postgresql\.$/),
        expect.stringMatching(/^Migrated \d+ records, \d+ bytes, from postgresql to lmdb\.$/),
      ]);
      await expectAll(await lmdbStorage({ path: join(folder, 'third') }), token);
      await expectAll(await lmdbStorage({ path: join(folder, 'first') }), token);
    } finally {
      await postgres.stop();
    }
  });

  test('never overwrites a store, needs one to copy, and runs once at a time', async () => {
    const [source, destination] = [memoryStorage(), memoryStorage()];
    await expect(migrateStorage(source, destination, now)).rejects.toThrow('the source is empty');
    const put = [{ key: 'a', value: Buffer.from('a') }];
    await source.commit({ put });
    await destination.commit({ put });
    await expect(migrateStorage(source, destination, now)).rejects.toThrow('the destination is not empty');
    await destination.commit({ delete: ['a'] });
    await source.commit({ put: [{ key: 'core/migration', value: Buffer.from('{}') }] });
    await expect(migrateStorage(source, destination, now)).rejects.toThrow(/under way, or was killed.*-reset/);
    await unlock(source);
    expect(await migrateStorage(source, destination, now)).toMatchObject({ entries: 1 });
    expect(await source.get('core/migration')).toBeUndefined();
    expect(await destination.get('core/migration')).toBeUndefined();
  });

  test('that fails on the way leaves the destination empty, and the source without a lock', async () => {
    const [source, destination] = [memoryStorage(), memoryStorage()];
    await source.commit({ put: [{ key: 'a', value: Buffer.from('a') }] });
    const failing: StorageDriver = {
      ...destination,
      replace: async () => ({ ...(await destination.replace!()), put: async () => Promise.reject(new Error('the disk is full')) }),
    };
    await expect(migrateStorage(source, failing, now)).rejects.toThrow('the disk is full');
    expect(await destination.range({})).toEqual([]);
    expect(await source.get('core/migration')).toBeUndefined();
  });

  test('keeps servers from opening the source, and has those seal themselves that are open', async () => {
    const path = join(scratchFolder(), 'store');
    mkdirSync(path);
    const token = await filled(await lmdbStorage({ path }));
    const running = await createCore({ storage: await lmdbStorage({ path }), plugins: [kvEngine], seal });
    const source = await lmdbStorage({ path });
    let sealed = false;
    const wait = async (): Promise<void> => {
      while (!running.sealed) await new Promise((resolve) => setImmediate(resolve));
      sealed = true;
      await expect(createCore({ storage: await lmdbStorage({ path }), plugins: [kvEngine], seal })).rejects.toThrow(
        /locked by strongroom operator migrate/,
      );
    };
    const destination = memoryStorage();
    await migrateStorage(source, destination, { wait, say: () => undefined });
    expect(sealed).toBe(true);
    await running.close();
    await source.close();
    await expectAll(destination, token);
  });

  test('is refused by everything that is wrong with its configuration', async () => {
    const file = join(scratchFolder(), 'migrate.hcl');
    writeFileSync(file, 'storage_source "inmem" {}\nstorage_destination "lmdb" {}\nother = 1\n');
    const refusal = runMigration({ config: [file], reset: false, say: () => undefined });
    await expect(refusal).rejects.toThrow(/a storage in memory cannot be migrated/);
    await expect(refusal).rejects.toThrow(/path is required/);
    await expect(refusal).rejects.toThrow(/other/);
    writeFileSync(file, '');
    await expect(runMigration({ config: [file], reset: false, say: () => undefined })).rejects.toThrow(/one storage_source block/);
  });
});
