import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
// eslint-disable-next-line no-restricted-syntax -- leases of writers end by the clock of PostgreSQL
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startFreezingProxy, startPostgres, type PostgresServer } from '@strongroom/lab';
import { StorageFailure, type StorageDriver } from '@strongroom/storage-sdk';
import { Client } from 'pg';
import { postgresqlStorage } from '../src/index.ts';

let server: PostgresServer;
const drivers: StorageDriver[] = [];
const children: ChildProcess[] = [];

beforeAll(async () => {
  server = await startPostgres();
}, 120_000);

afterAll(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  await Promise.all(drivers.map((driver) => driver.close()));
  await server.stop();
}, 60_000);

async function opened(table: string, connectionUrl = server.url): Promise<StorageDriver> {
  const driver = await postgresqlStorage({ connectionUrl, table });
  drivers.push(driver);
  return driver;
}

const put = (key: string, text = key) => ({ key, value: Buffer.from(text) });

async function took(work: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work;
  return performance.now() - began;
}

/** Milliseconds of each write of some other key, one after the other, until `done`. */
async function otherWrites(driver: StorageDriver, done: Promise<unknown>): Promise<number[]> {
  let going = true;
  void done.then(
    () => (going = false),
    () => (going = false),
  );
  const times: number[] = [];
  const one = async (worker: number): Promise<void> => {
    for (let i = 0; going; i++) {
      times.push(await took(driver.commit({ put: [put(`free/${worker}/${i % 50}`)] })));
      await delay(5);
    }
  };
  await Promise.all([one(0), one(1), one(2)]);
  return times.sort((a, b) => a - b);
}

const percentile = (sorted: readonly number[], share: number): number => sorted[Math.floor((sorted.length - 1) * share)]!;

describe('a process that stands still inside a transaction', () => {
  test('holds up writes of the same keys for at most 6 s, none of them with an unknown result, and writes of other keys not at all', async () => {
    const driver = await opened('frozen');
    await Promise.all([0, 1, 2].map((i) => driver.commit({ put: [put(`held/${i}`)] })));
    const usual = percentile(await otherWrites(driver, delay(1_000)), 0.99);
    const { child, lines } = startProcess('frozen');
    while (!lines.includes('wrote')) await once(child.stdout!, 'data');
    await stopInTransaction(child);
    const writes = [0, 1, 2].map((i) => took(driver.commit({ put: [put(`held/${i}`, 'mine')] })));
    const held = Promise.all(writes);
    const others = await otherWrites(driver, held);
    expect(Math.max(...(await held))).toBeLessThan(6_000);
    // It was in the way indeed.
    expect(Math.max(...(await held))).toBeGreaterThan(1_000);
    expect(others.length).toBeGreaterThan(50);
    expect(percentile(others, 0.99)).toBeLessThan(300 + usual);
    // Woken, the process finds its transaction gone, and goes on.
    lines.length = 0;
    child.kill('SIGCONT');
    while (!lines.includes('wrote')) await once(child.stdout!, 'data');
    expect(lines.filter((line) => line.startsWith('failed'))).toEqual([]);
  }, 60_000);

  test('that keeps its locks for longer than 15 s makes the others say that nothing was written, so that they are answered 503', async () => {
    const driver = await opened('held');
    await driver.commit({ put: [put('held', 'before'), put('too', 'before')] });
    // No session of ours, so no time limit of ours either.
    const holder = new Client({ connectionString: server.url });
    await holder.connect();
    await holder.query(`BEGIN; SELECT 1 FROM "held" WHERE key = 'held' FOR UPDATE`);
    const usual = percentile(await otherWrites(driver, delay(1_000)), 0.99);
    const waiting = driver.commit({ put: [put('held', 'after'), put('too', 'after')] });
    const began = performance.now();
    const others = await otherWrites(driver, waiting);
    await expect(waiting).rejects.toMatchObject({
      transient: true,
      reason: 'other processes hold the same records; nothing was written, and the same may succeed later',
    });
    expect(performance.now() - began).toBeGreaterThan(14_000);
    expect(performance.now() - began).toBeLessThan(21_000);
    expect(percentile(others, 0.99)).toBeLessThan(300 + usual);
    expect(Buffer.from((await driver.get('too'))!.value).toString()).toBe('before');
    await holder.query('ROLLBACK');
    await holder.end();
    await driver.commit({ put: [put('held', 'after')] });
  }, 60_000);

  test('and an insert that is not committed: only those that want the same key wait for it', async () => {
    const driver = await opened('inserted');
    const holder = new Client({ connectionString: server.url });
    await holder.connect();
    await holder.query(`BEGIN; INSERT INTO "inserted" VALUES ('new', '', 1)`);
    const absent = (key: string) => ({ expect: [{ key, version: undefined }], put: [put(key)] });
    const free = Array.from({ length: 20 }, (_, i) => took(driver.commit(absent(`free/${i}`))));
    const waiting = driver.commit(absent('new'));
    expect(Math.max(...(await Promise.all(free)))).toBeLessThan(1_000);
    await holder.query('ROLLBACK');
    await waiting;
    expect(await driver.get('new')).toBeDefined();
    await holder.end();
  }, 60_000);
});

describe('a link that goes dead without a word', () => {
  test('costs a query 20 s, and then the driver tries another connection', async () => {
    const proxy = await startFreezingProxy(server);
    const url = server.url.replace(String(server.port), String(proxy.port));
    const driver = await opened('dead', `${url}?connect_timeout=2`);
    await driver.commit({ put: [put('a')] });
    proxy.freeze();
    const began = performance.now();
    await expect(driver.get('a')).rejects.toBeInstanceOf(StorageFailure);
    expect(performance.now() - began).toBeGreaterThan(19_000);
    expect(performance.now() - began).toBeLessThan(30_000);
    proxy.thaw();
    expect(await driver.get('a')).toBeDefined();
    await driver.close();
    await proxy.close();
  }, 60_000);
});

describe('the time limits of a session', () => {
  test.each(['lock_timeout', 'idle_in_transaction_session_timeout', 'statement_timeout'])(
    'are read back: a server where %s is not in force is refused',
    async (setting) => {
      const proxy = await startFreezingProxy(server);
      // What stands between takes the setting for another, as a pooler does that drops what it does not know.
      const other = `x.${setting.slice(2)}`;
      proxy.intercept((data) => Buffer.from(data.toString('latin1').replace(`SET ${setting}`, `SET ${other}`), 'latin1'));
      const url = server.url.replace(String(server.port), String(proxy.port));
      const failure = (await postgresqlStorage({ connectionUrl: url, table: 'refused' }).catch(
        (error: unknown) => error,
      )) as StorageFailure;
      await proxy.close();
      expect(failure).toBeInstanceOf(StorageFailure);
      expect(failure.reason).toMatch(
        new RegExp(`^the time limits that the driver sets are not in force: ${setting} is 0 ms and not \\d+ ms`),
      );
    },
  );
});

function startProcess(table: string): { child: ChildProcess; lines: string[] } {
  const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
  const args = ['--no-warnings', '--import', here('../../lab/scripts/typescript-loader.mjs'), here('process.ts')];
  const child = spawn(process.execPath, [...args, `${server.url}?application_name=stopped`, table], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout! }).on('line', (line) => lines.push(line));
  return { child, lines };
}

/** Stops it again and again until that is inside a transaction which holds records. */
async function stopInTransaction(child: ChildProcess): Promise<void> {
  for (;;) {
    child.kill('SIGSTOP');
    await delay(30);
    const [row] = await server.query<{ holding: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_stat_activity AS session JOIN pg_locks USING (pid)
         WHERE session.application_name = 'stopped' AND session.state = 'idle in transaction'
         AND pg_locks.relation = 'frozen'::regclass AND pg_locks.mode = 'RowExclusiveLock') AS holding`,
    );
    if (row!.holding) return;
    child.kill('SIGCONT');
    await delay(7);
  }
}
