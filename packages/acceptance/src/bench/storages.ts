import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { etcdMissing, findPostgres, startEtcd, startPostgres } from '@strongroom/lab';
import { etcdStorage } from '@strongroom/storage-etcd';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import { postgresqlStorage } from '@strongroom/storage-postgresql';
import { Conflict, type StorageDriver } from '@strongroom/storage-sdk';

const ROUNDS = 3;
const KEYS = 1_000;
const VALUE = Buffer.alloc(1_100, 'x');

/** What is asked of a driver, by how many callers at a time. */
const LOADS = [
  { name: 'put', callers: 1, run: put },
  { name: 'put', callers: 32, run: put },
  { name: 'read and compare-put', callers: 32, run: add },
  { name: 'get', callers: 1, run: get },
  { name: 'get', callers: 32, run: get },
] as const;

/** One load on one storage: the median of the rounds. */
export interface StorageFigures {
  readonly load: string;
  readonly callers: number;
  readonly storage: string;
  readonly rate: number;
  /** Of this process, in microseconds per operation. */
  readonly cpu: number;
  /** Half of the operations take less, in milliseconds. */
  readonly median: number;
}

/** Drives the drivers without a server, values of 1,100 bytes, in rounds that alternate between the storages. `seconds` is for one load in one round. */
export async function storages(seconds: number): Promise<StorageFigures[]> {
  const opened = await openAll();
  const found = new Map<string, Omit<StorageFigures, 'load' | 'callers' | 'storage'>[]>();
  try {
    for (const { driver } of opened) {
      for (let i = 0; i < KEYS; i += 100)
        await driver.commit({ put: Array.from({ length: 100 }, (_, j) => ({ key: keyOf(i + j), value: VALUE })) });
    }
    for (let round = 0; round < ROUNDS; round++) {
      for (const load of LOADS) {
        for (const { driver } of opened) {
          const name = `${load.name}|${load.callers}|${driver.name}`;
          found.set(name, [...(found.get(name) ?? []), await measured(driver, load, seconds)]);
        }
      }
    }
  } finally {
    for (const { close } of opened) await close();
  }
  return [...found].map(([name, rounds]) => {
    const [load = '', callers = '', storage = ''] = name.split('|');
    return { load, callers: Number(callers), storage, ...rounds.sort((a, b) => a.rate - b.rate)[Math.floor(rounds.length / 2)]! };
  });
}

interface Opened {
  readonly driver: StorageDriver;
  close(): Promise<void>;
}

async function openAll(): Promise<Opened[]> {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-bench-'));
  const lmdb = await lmdbStorage({ path: folder });
  const opened: Opened[] = [{ driver: lmdb, close: async () => lmdb.close().then(() => rm(folder, { recursive: true })) }];
  if ((await findPostgres()) !== undefined) {
    // Tests run it without.
    const server = await startPostgres({ settings: ['fsync=on', 'synchronous_commit=on'] });
    const driver = await postgresqlStorage({ connectionUrl: server.url });
    opened.push({ driver, close: async () => driver.close().then(() => server.stop()) });
  }
  if (etcdMissing() === undefined) {
    const etcd = await startEtcd({ members: 3 });
    const driver = await etcdStorage({ endpoints: etcd.endpoints });
    opened.push({ driver, close: async () => driver.close().then(() => etcd.stop()) });
  }
  return opened;
}

async function measured(driver: StorageDriver, { callers, run }: (typeof LOADS)[number], seconds: number) {
  const times: number[] = [];
  const began = performance.now();
  const usage = process.cpuUsage();
  const end = began + seconds * 1_000;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let i = caller; performance.now() < end; i += callers) {
        const from = performance.now();
        await run(driver, i);
        times.push(performance.now() - from);
      }
    }),
  );
  const { user, system } = process.cpuUsage(usage);
  times.sort((a, b) => a - b);
  return {
    rate: Math.round((times.length * 1_000) / (performance.now() - began)),
    cpu: Math.round((user + system) / times.length),
    median: times[Math.floor(times.length / 2)] ?? 0,
  };
}

function keyOf(i: number): string {
  return `key/${String((i * 7919) % KEYS).padStart(6, '0')}`;
}

async function put(driver: StorageDriver, i: number): Promise<void> {
  await driver.commit({ put: [{ key: keyOf(i), value: VALUE }] });
}

async function get(driver: StorageDriver, i: number): Promise<void> {
  await driver.get(keyOf(i));
}

async function add(driver: StorageDriver, i: number): Promise<void> {
  const key = keyOf(i);
  const found = await driver.get(key);
  try {
    await driver.commit({ expect: [{ key, version: found?.version }], put: [{ key, value: VALUE }] });
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
  }
}
