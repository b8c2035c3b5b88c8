import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from '@jest/globals';
import { startFreezingProxy, startPostgres, type FreezingProxy, type Interception, type PostgresServer } from '@strongroom/lab';
import { StorageFailure, type StorageDriver } from '@strongroom/storage-sdk';
import { Client } from 'pg';
import { postgresqlStorage } from '../src/index.ts';

let server: PostgresServer;
let proxy: FreezingProxy;
let driver: StorageDriver;
let tables = 0;

beforeAll(async () => {
  // What is not asked to be durable is written late, so that a crash undoes it.
  server = await startPostgres({ settings: ['wal_writer_delay=10s'] });
}, 120_000);
afterAll(() => server.stop(), 60_000);

/** As other programs do that write to the same server: each transaction takes the next number. */
async function takeNumbers(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await server.query('SELECT txid_current()');
}

beforeEach(async () => {
  proxy = await startFreezingProxy(server);
  const connectionUrl = server.url.replace(String(server.port), String(proxy.port));
  driver = await postgresqlStorage({ connectionUrl, table: `outcome_${tables++}` });
});
afterEach(async () => {
  await driver.close();
  await proxy.close();
});

const put = (key: string, text: string) => ({ key, value: Buffer.from(text) });
const textOf = async (key: string) => Buffer.from((await driver.get(key))?.value ?? []).toString();

/** At the next COMMIT, once. */
function atCommit(what: 'cut' | 'deafen', also: () => void = () => undefined): () => number {
  let count = 0;
  const change: Interception = (data) => {
    if (count > 0 || !data.includes('COMMIT\0')) return data;
    count += 1;
    also();
    return what;
  };
  proxy.intercept(change);
  return () => count;
}

describe('a connection that is lost in the COMMIT', () => {
  test('is looked up: a commit that happened is answered as such, and is made once', async () => {
    await driver.commit({ put: [put('a', 'first')] });
    const version = (await driver.get('a'))!.version;
    const count = atCommit('deafen');
    await driver.commit({ expect: [{ key: 'a', version }], put: [put('a', 'second')] });
    expect(count()).toBe(1);
    expect(await textOf('a')).toBe('second');
  });

  test('is looked up: a commit that did not happen is made after all', async () => {
    await driver.commit({ put: [put('a', 'first')] });
    const version = (await driver.get('a'))!.version;
    const count = atCommit('cut');
    await driver.commit({ expect: [{ key: 'a', version }], put: [put('a', 'second')] });
    expect(count()).toBe(1);
    expect(await textOf('a')).toBe('second');
  });

  test('and that can no longer be found out is a failure that says so', async () => {
    let down: Promise<void> | undefined;
    atCommit('deafen', () => void (down = server.crash()));
    const failure = (await driver.commit({ put: [put('a', 'x')] }).catch((error: unknown) => error)) as StorageFailure;
    expect(failure).toBeInstanceOf(StorageFailure);
    expect(failure).toMatchObject({
      transient: false,
      reason: 'PostgreSQL was lost during the commit, and whether it happened cannot be found out',
    });
    await down;
    proxy.intercept(undefined);
    await server.restart();
    await driver.commit({ put: [put('b', 'x')] });
  }, 60_000);

  describe('by a crash of PostgreSQL', () => {
    let crashed: Promise<void> | undefined;

    /** PostgreSQL crashes in place of the COMMIT, or after it, and serves again once `meanwhile` is done: no new connection comes through before. */
    function crashAtCommit(what: 'cut' | 'deafen', meanwhile: () => Promise<void> = async () => undefined, crash = crashOfServer): void {
      atCommit(what, () => {
        crashed = (async () => {
          proxy.intercept(() => 'cut');
          // A commit that was passed on is there before the crash.
          if (what === 'deafen') await committed('a', 'second');
          await crash();
          await meanwhile();
          proxy.intercept(undefined);
        })();
      });
    }

    async function crashOfServer(): Promise<void> {
      await server.crash();
      await server.restart();
    }

    /** PostgreSQL ends all others then and recovers, in the same process. */
    async function crashOfOneProcess(): Promise<void> {
      const client = new Client({ connectionString: server.url });
      client.on('error', () => undefined);
      await client.connect();
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const ended = new Promise((resolve) => client.once('end', resolve));
      process.kill(rows[0]!.pid, 'SIGKILL');
      await ended;
      const answers = async (): Promise<boolean> =>
        server.query('SELECT 1').then(
          () => true,
          () => false,
        );
      for (let open = false; !open;) open = await answers();
    }

    async function committed(key: string, text: string): Promise<void> {
      const table = `outcome_${tables - 1}`;
      for (;;) {
        const [row] = await server.query<{ value: Buffer }>(`SELECT value FROM ${table} WHERE key = $1`, [key]);
        if (row?.value.toString() === text) return;
      }
    }

    afterEach(async () => crashed);

    test('that comes before it is made after all, where the crash took the transaction number back', async () => {
      await driver.commit({ put: [put('a', 'first')] });
      crashAtCommit('cut');
      await driver.commit({ put: [put('a', 'second')] });
      expect(await textOf('a')).toBe('second');
    }, 60_000);

    test.each([
      ['', crashOfServer],
      ['and of one process of it ', crashOfOneProcess],
    ])(
      '%sthat comes before it is not answered as done, where another transaction has got its number since',
      async (_, crash) => {
        await driver.commit({ put: [put('a', 'first')] });
        crashAtCommit('cut', async () => takeNumbers(5), crash);
        const answer = await driver.commit({ put: [put('a', 'second')] }).then(
          () => 'done',
          (error: StorageFailure) => error.reason,
        );
        expect(answer).toBe('PostgreSQL was lost during the commit, and whether it happened cannot be found out');
        await crashed;
        expect(await textOf('a')).toBe('first');
        await driver.commit({ put: [put('a', 'third')] });
      },
      60_000,
    );

    test('that comes after it is answered as done where the records are as they were written', async () => {
      await driver.commit({ put: [put('a', 'first'), put('b', 'first')] });
      crashAtCommit('deafen', async () => takeNumbers(5));
      await driver.commit({ put: [put('a', 'second')], delete: ['b'] });
      expect(await textOf('a')).toBe('second');
      expect(await driver.get('b')).toBeUndefined();
    }, 60_000);

    test('that comes after it is not answered as done where the records were written again since', async () => {
      await driver.commit({ put: [put('a', 'first')] });
      crashAtCommit('deafen', async () => {
        await server.query(`UPDATE outcome_${tables - 1} SET value = 'third'`);
      });
      await expect(driver.commit({ put: [put('a', 'second')] })).rejects.toMatchObject({
        reason: 'PostgreSQL was lost during the commit, and whether it happened cannot be found out',
      });
      expect(await textOf('a')).toBe('third');
    }, 60_000);
  });
});
