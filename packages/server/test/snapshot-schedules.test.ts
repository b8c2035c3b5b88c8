import { randomBytes } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { checkedCore, KillableStorage, manualClock, type ManualClock } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import { readSnapshot } from '@strongroom/snapshot-file';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import { localSnapshots } from '../src/snapshots/local-folder.ts';
import { scratchFolder } from './scratch.ts';

jest.setTimeout(60_000);

const AUTO = 'sys/storage/raft/snapshot-auto';
const SEAL = { type: 'static' as const, key: Buffer.alloc(32, 7) };
const cores: Core[] = [];
let clock: ManualClock;
let folder: string;
beforeEach(() => {
  clock = manualClock();
  folder = scratchFolder();
});
afterEach(async () => {
  for (const core of cores.splice(0)) await core.close();
});

interface Status {
  readonly consecutive_errors: number;
  readonly last_snapshot_error: string;
  readonly last_snapshot_url: string;
  readonly last_snapshot_time: string | null;
  readonly last_snapshot_bytes: number;
  readonly next_snapshot_start: string;
  readonly snapshots: readonly { url: string; time: string; bytes: number }[];
  readonly retention_problem: string;
}

async function serve(storage: StorageDriver = memoryStorage(), { begin = true, dies = false }: { begin?: boolean; dies?: boolean } = {}) {
  const core = await checkedCore({
    ...{ storage, clock, seal: SEAL, plugins: [kvEngine, localSnapshots], liveness: { clock: manualClock() } },
    ...(begin ? { devRootToken: 'root' } : {}),
  });
  if (!dies) cores.push(core);
  const call = async (operation: 'read' | 'update' | 'delete' | 'list', path: string, data: Record<string, unknown> = {}, token = 'root') =>
    core.handle({ operation, path, data, token });
  const status = async (name = 'hourly'): Promise<Status> => (await call('read', `${AUTO}/status/${name}`)).data as unknown as Status;
  const advance = async (by: string): Promise<void> => {
    await clock.advance(by);
    await core.settleSchedule();
  };
  const configure = async (fields: Record<string, unknown> = {}, name = 'hourly') => {
    const answer = await call('update', `${AUTO}/config/${name}`, {
      ...{ storage_type: 'local', interval: '1h', path_prefix: folder, local_max_space: 0 },
      ...fields,
    });
    await core.settleSchedule();
    return answer;
  };
  return { core, call, status, advance, configure };
}

const files = (): string[] => readdirSync(folder).sort();

describe('scheduled snapshots in a folder', () => {
  test('keep their times when others are asked for in between', async () => {
    const { configure, status, advance, call, core } = await serve();
    await configure({ retain: 10 });
    for (let asked = 0; asked < 3; asked += 1) {
      await advance('10m');
      expect((await call('update', `${AUTO}/run/hourly`)).status).toBe(204);
      await core.settleSchedule();
    }
    expect(await status()).toMatchObject({ next_snapshot_start: '2030-01-01T01:00:00.000Z' });
    expect(files()).toHaveLength(4);
    await advance('30m');
    expect(files()).toHaveLength(5);
    expect(await status()).toMatchObject({ next_snapshot_start: '2030-01-01T02:00:00.000Z' });
  });

  test('begin at once, come at each interval, are whole, and the oldest go', async () => {
    const { configure, status, advance, call } = await serve();
    expect((await configure({ retain: 2 })).status).toBe(204);
    expect(await status()).toMatchObject({
      consecutive_errors: 0,
      last_snapshot_error: '',
      next_snapshot_start: '2030-01-01T01:00:00.000Z',
    });
    const [first] = files();
    expect(first).toMatch(/^strongroom-snapshot-1893456000000\d{6}\.snap$/);
    const { meta } = await readSnapshot(createReadStream(join(folder, first!)));
    expect(meta.Storage).toBe('inmem');
    await advance('1h');
    await advance('1h');
    expect(files()).toHaveLength(2);
    expect(files()).not.toContain(first);
    const { snapshots, last_snapshot_url, retention_problem } = await status();
    expect(snapshots.map(({ url }) => url)).toEqual(files().map((name) => `file://${folder}/${name}`));
    expect([last_snapshot_url, retention_problem]).toEqual([snapshots[1]!.url, '']);
    expect((await call('list', `${AUTO}/config/`)).data).toEqual({ keys: ['hourly'] });
    expect((await call('read', `${AUTO}/config/hourly`)).data).toEqual({
      ...{ storage_type: 'local', interval: 3_600, retain: 2, max_age: 0, path_prefix: folder, local_max_space: 0 },
      file_prefix: 'strongroom-snapshot',
    });
    expect((await call('delete', `${AUTO}/config/hourly`)).status).toBe(204);
    await advance('5h');
    expect(files()).toHaveLength(2);
    expect((await call('read', `${AUTO}/status/hourly`)).status).toBe(404);
  });

  test('go by age too, but never the last good one, nor what the server did not write', async () => {
    const { configure, status, advance, call } = await serve();
    const others = ['strongroom-snapshot-old.snap', 'notes.txt', 'strongroom-snapshot-1293456000000123456.snap'];
    for (const name of others) writeFileSync(join(folder, name), 'kept');
    await configure({ retain: 100, max_age: '90m' });
    await advance('1h');
    await advance('1h');
    expect((await status()).snapshots).toHaveLength(2);
    await call('update', `${AUTO}/config/hourly`, { local_max_space: 1 });
    await advance('3h');
    expect(await status()).toMatchObject({ snapshots: [{}, {}], last_snapshot_error: expect.stringContaining('local_max_space') });
    await call('update', `${AUTO}/config/hourly`, { local_max_space: 0 });
    await advance('1s');
    expect((await status()).snapshots).toHaveLength(1);
    expect(files()).toEqual(expect.arrayContaining(others));
    expect(files()).toHaveLength(4);
  });

  test('that fail say so in status, schedule and attention, leave nothing, and recover by themselves', async () => {
    const { configure, status, advance, call } = await serve();
    await configure({ path_prefix: join(folder, 'absent') });
    const reason = `the folder ${join(folder, 'absent')} of this server cannot be used: it is not there`;
    expect(await status()).toMatchObject({ consecutive_errors: 1, last_snapshot_error: reason, last_snapshot_url: '', snapshots: [] });
    const { items } = (await call('read', 'sys/internal/ui/attention')).data as { items: { message: string; kind: string }[] };
    expect(items).toEqual(expect.arrayContaining([expect.objectContaining({ message: reason })]));
    const { jobs } = (await call('read', 'sys/schedule')).data as { jobs: { kind: string; state: string }[] };
    expect(jobs).toEqual(expect.arrayContaining([expect.objectContaining({ kind: 'snapshot', state: 'failing' })]));
    mkdirSync(join(folder, 'absent'));
    await advance('10m');
    expect(await status()).toMatchObject({ consecutive_errors: 0, last_snapshot_error: '', retention_problem: '' });
    expect(readdirSync(join(folder, 'absent'))).toHaveLength(1);
  });

  test('take no more room than they may, and leave no part of one that does not fit', async () => {
    const { configure, status, advance, call } = await serve();
    await call('update', 'sys/mounts/kv', { type: 'kv' });
    await configure({ local_max_space: 60_000, retain: 5 });
    for (let i = 0; i < 10; i++) await call('update', `kv/${i}`, { value: randomBytes(5_000).toString('hex') });
    await advance('1h');
    expect(files()).toHaveLength(1);
    expect((await status()).last_snapshot_error).toBe('the snapshots of the series would take more than local_max_space, 60000 bytes');
  });

  test('are restored, whatever the store was copied to', async () => {
    const { configure, call } = await serve(await lmdbStorage({ path: scratchFolder() }));
    await call('update', 'sys/mounts/kv', { type: 'kv' });
    await call('update', 'kv/a', { value: 'then' });
    await configure();
    await call('update', 'kv/a', { value: 'now' });
    const [name] = files();
    const body = createReadStream(join(folder, name!));
    const core = cores[0]!;
    const restored = await core.handle({ operation: 'update', path: 'sys/storage/raft/snapshot', token: 'root', body });
    expect([restored.status, restored.errors]).toEqual([200, undefined]);
    expect((await call('read', 'kv/a')).data).toEqual({ value: 'then' });
  });

  test('of a store that was restored, or is copied elsewhere, are not deleted before an operator accepts what was written meanwhile', async () => {
    const { configure, advance, status, call, core } = await serve();
    await configure({ retain: 1 });
    await advance('1h');
    const [latest] = files();
    const body = createReadStream(join(folder, latest!));
    expect((await core.handle({ operation: 'update', path: 'sys/storage/raft/snapshot', token: 'root', body })).status).toBe(200);
    expect((await status()).snapshots).toHaveLength(1);
    await advance('1h');
    await advance('1h');
    expect(files()).toContain(latest);
    expect((await status()).retention_problem).toContain(`"${latest}" is not one of the snapshots that it knows`);
    const { items } = (await call('read', 'sys/internal/ui/attention')).data as { items: { message: string }[] };
    expect(items.map(({ message }) => message).join()).toContain('no snapshot is deleted');
    await configure({});
    await advance('1h');
    expect((await status()).retention_problem).toBe('');
    expect(files()).toContain(latest);
    expect(files()).toHaveLength(2);
  });

  test('of a server that dies at any commit are taken by the next one, which removes what the dead one left', async () => {
    for (let commits = 0; ; commits++) {
      folder = scratchFolder();
      const disk = memoryStorage();
      const killable = Object.assign(new KillableStorage(disk), { copy: async () => disk.copy!() });
      const one = await serve(killable, { dies: true });
      await one.configure({ retain: 2 });
      killable.dieAfter(commits);
      await clock.advance('1h');
      const lived = await Promise.race([killable.noticed.then(() => false), one.core.settleSchedule().then(() => true)]);
      killable.die();
      const left = files();
      const two = await serve(disk, { begin: false });
      await two.advance('80s');
      await two.advance('1h');
      const { snapshots, retention_problem } = await two.status();
      expect([commits, snapshots.map(({ url }) => url), retention_problem]).toEqual([
        commits,
        files().map((name) => `file://${folder}/${name}`),
        '',
      ]);
      expect(files()).toHaveLength(2);
      if (!lived) continue;
      expect(left).toHaveLength(2);
      expect(commits).toBeGreaterThan(3);
      return;
    }
  });

  test('are taken by one server of several', async () => {
    const path = scratchFolder();
    const one = await serve(await lmdbStorage({ path }));
    await one.configure({ retain: 10 });
    const two = await serve(await lmdbStorage({ path }), { begin: false });
    await clock.advance('1h');
    await Promise.all([one.core.settleSchedule(), two.core.settleSchedule()]);
    expect(files()).toHaveLength(2);
    await clock.advance('1h');
    await Promise.all([two.core.settleSchedule(), one.core.settleSchedule()]);
    expect(files()).toHaveLength(3);
  });

  test('refuse settings that cannot work, naming the field', async () => {
    const { configure, call } = await serve();
    for (const [fields, error] of [
      [{ interval: '10s' }, 'interval must be from 1 minute to 366 days'],
      [{ interval: undefined }, 'interval is required'],
      [{ retain: 0 }, 'retain must be from 1 to 1000 snapshots'],
      [{ path_prefix: 'snapshots' }, 'path_prefix must be the absolute path of a folder'],
      [{ path_prefix: '' }, 'path_prefix is required'],
      [{ file_prefix: '../x' }, /^file_prefix must be at most 100/],
      [{ storage_type: 'azure-blob' }, 'storage_type: "azure-blob" is not there: this server has "local"'],
      [{ local_max_space: -1 }, 'local_max_space must not be negative'],
    ] as const) {
      const answer = await configure(fields);
      expect([fields, answer.status]).toEqual([fields, 400]);
      expect(answer.errors?.[0]).toMatch(error);
    }
    expect((await configure()).status).toBe(204);
    expect((await configure({}, 'other')).errors?.[0]).toBe(
      'file_prefix: the series "hourly" writes to the same place under the same names',
    );
    expect((await call('update', `${AUTO}/run/none`)).status).toBe(404);
  });

  test('need sudo for their settings, and a policy for their status', async () => {
    const { call, configure } = await serve();
    await configure();
    const policy = `path "${AUTO}/*" { capabilities = ["create", "read", "update", "delete", "list"] }`;
    await call('update', 'sys/policies/acl/watch', { policy });
    const { auth } = await call('update', 'auth/token/create', { policies: ['watch'] });
    const token = auth!.client_token;
    for (const operation of ['read', 'update', 'delete'] as const)
      expect((await call(operation, `${AUTO}/config/hourly`, {}, token)).status).toBe(403);
    expect((await call('update', `${AUTO}/run/hourly`, {}, token)).status).toBe(403);
    expect((await call('read', `${AUTO}/status/hourly`, {}, token)).status).toBe(200);
    expect((await call('update', `${AUTO}/run/hourly`)).status).toBe(204);
  });
});
