// eslint-disable-next-line no-restricted-syntax -- the driver listens to PostgreSQL by the wall clock, and what must not come has to be waited for
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWhere, pgbouncerMissing, startFreezingProxy, startPgbouncer, startPostgres, type PostgresServer } from '@strongroom/lab';
import { EVERYTHING, type StorageDriver } from '@strongroom/storage-sdk';
import { Client } from 'pg';
import { postgresqlStorage, type PostgresqlOptions } from '../src/index.ts';

let server: PostgresServer;
let tables = 0;
const drivers: StorageDriver[] = [];

beforeAll(async () => {
  // What is not asked to be durable is written late, so that a crash undoes it.
  server = await startPostgres({ settings: ['wal_writer_delay=10s', 'fsync=on'] });
}, 120_000);
afterAll(async () => {
  await Promise.all(drivers.map((driver) => driver.close()));
  await server.stop();
}, 60_000);

async function opened(table: string, options: Partial<PostgresqlOptions> = {}): Promise<StorageDriver> {
  const driver = await postgresqlStorage({ connectionUrl: server.url, table, ...options });
  drivers.push(driver);
  return driver;
}

/** What a driver hears, in words, and when it has heard so much. */
function ears(driver: StorageDriver) {
  const heard: string[] = [];
  driver.changes((changed) => heard.push(...(changed === EVERYTHING ? ['everything'] : changed)));
  const until = async (key: string, ms: number): Promise<number> => {
    const began = performance.now();
    while (!heard.includes(key)) {
      if (performance.now() - began > ms) throw new Error(`"${key}" was not heard within ${ms} ms, but ${heard.join()}`);
      await delay(5);
    }
    return performance.now() - began;
  };
  return { heard, until };
}

/** How long six notifications take, each made when the one before was heard: by reading alone that is once a second. */
async function six(driver: StorageDriver, until: (key: string, ms: number) => Promise<number>): Promise<number> {
  const began = performance.now();
  for (let i = 0; i < 6; i++) {
    await driver.commit({ notify: [`fast/${i}`] });
    await until(`fast/${i}`, 3_000);
  }
  return performance.now() - began;
}

function logged() {
  const lines: string[] = [];
  return { lines, log: { info: () => undefined, warn: (message: string) => lines.push(message) } };
}

describe('change notifications', () => {
  test('are heard within 3 s where the connection that listens is dead, and at once where it is not', async () => {
    const table = `store_${tables++}`;
    const proxy = await startFreezingProxy(server);
    const one = await opened(table);
    const two = await opened(table, { connectionUrl: server.url.replace(String(server.port), String(proxy.port)) });
    const { heard, until } = ears(two);
    expect(await six(one, until)).toBeLessThan(3_000);
    proxy.freeze('strongroom listener');
    await one.commit({ notify: ['slow'] });
    expect(await until('slow', 3_000)).toBeGreaterThan(0);
    expect(two.staleness().millis).toBeLessThan(3_000);
    proxy.thaw();
    await delay(1_500);
    expect(heard).toEqual(['fast/0', 'fast/1', 'fast/2', 'fast/3', 'fast/4', 'fast/5', 'slow']);
    await proxy.close();
  });

  test('of a transaction that is committed long after later ones are heard all the same, each once', async () => {
    const table = `store_${tables++}`;
    const driver = await opened(table);
    const { heard, until } = ears(driver);
    const [early, other] = [new Client({ connectionString: server.url }), new Client({ connectionString: server.url })];
    await Promise.all([early.connect(), other.connect()]);
    const notification = (key: string): string => `INSERT INTO "${table}_announced" (origin, keys) VALUES ('elsewhere', ARRAY['${key}'])`;
    await early.query(`BEGIN; ${notification('early')}`);
    for (let i = 0; i < 4; i++) {
      await other.query(notification(`late/${i}`));
      await until(`late/${i}`, 3_000);
    }
    await early.query('COMMIT');
    await until('early', 3_000);
    await delay(2_200);
    expect(heard).toEqual(['late/0', 'late/1', 'late/2', 'late/3', 'early']);
    await Promise.all([early.end(), other.end()]);
  });

  test('are removed after ten minutes, also when there are more than one reading removes', async () => {
    const table = `store_${tables++}`;
    await opened(table);
    const made = `INSERT INTO "${table}_announced" (at, origin, keys) SELECT now() - interval`;
    await server.query(`${made} '11 minutes', 'elsewhere', ARRAY['old'] FROM generate_series(1, 12000)`);
    await server.query(`${made} '9 minutes', 'elsewhere', ARRAY['young'] FROM generate_series(1, 10)`);
    await opened(table);
    const kept = async (): Promise<unknown[]> => server.query(`SELECT DISTINCT keys[1] AS key FROM "${table}_announced"`);
    for (let turn = 0; turn < 200 && (await kept()).length > 1; turn += 1) await delay(50);
    expect(await kept()).toEqual([{ key: 'young' }]);
  }, 30_000);

  test('stay while a transaction goes on that began before them, and nobody hears that some are gone', async () => {
    const table = `store_${tables++}`;
    const driver = await opened(table);
    const { heard, until } = ears(driver);
    const early = new Client({ connectionString: server.url });
    await early.connect();
    await early.query('BEGIN; SELECT txid_current()');
    await server.query(
      `INSERT INTO "${table}_announced" (at, origin, keys) VALUES (now() - interval '11 minutes', 'elsewhere', ARRAY['old'])`,
    );
    await until('old', 3_000);
    await opened(table);
    await delay(1_200);
    expect(await server.query(`SELECT keys FROM "${table}_announced"`)).toEqual([{ keys: ['old'] }]);
    expect(heard).toEqual(['old']);
    await early.query('COMMIT');
    await delay(1_200);
    await opened(table);
    expect(await server.query(`SELECT keys FROM "${table}_announced"`)).toEqual([]);
    await delay(1_200);
    expect(heard).toEqual(['old']);
    await early.end();
  }, 30_000);

  test('whose transactions have numbers that were read before a crash of PostgreSQL are not passed over: everything is read again', async () => {
    const table = `store_${tables++}`;
    let paused = false;
    const one = await opened(table);
    const { lines, log } = logged();
    const two = await opened(table, { log, reading: { paused: () => paused } });
    const { heard, until } = ears(two);
    await one.commit({ notify: ['before'] });
    await until('before', 3_000);
    // The crash takes these numbers back.
    for (let i = 0; i < 10; i++) await server.query('SELECT txid_current()');
    await delay(1_200);
    paused = true;
    await server.crash();
    await server.restart();
    await one.commit({ put: [{ key: 'a', value: Buffer.from('a') }], notify: ['a'] });
    for (let i = 0; i < 20; i++) await server.query('SELECT txid_current()');
    paused = false;
    await until('everything', 5_000);
    expect(lines).toEqual(['PostgreSQL has recovered from a crash, or its statistics were reset: everything is read again']);
    await one.commit({ notify: ['after'] });
    await until('after', 3_000);
    expect(heard.at(-1)).toBe('after');
  }, 30_000);

  test('that cannot be read make the driver stale, with the reason, and the first reading ends that', async () => {
    const table = `store_${tables++}`;
    const proxy = await startFreezingProxy(server);
    const one = await opened(table);
    const two = await opened(table, { connectionUrl: server.url.replace(String(server.port), String(proxy.port)) });
    const { until } = ears(two);
    proxy.freeze('strongroom announcements');
    await one.commit({ notify: ['unheard'] });
    await delay(4_500);
    const { millis, reason } = two.staleness();
    expect(millis).toBeGreaterThan(4_000);
    expect(reason).toMatch(/^PostgreSQL (does not answer|cannot be reached)/);
    // Everything else goes on.
    await two.commit({ put: [{ key: 'a', value: Buffer.from('a') }] });
    proxy.thaw();
    await until('unheard', 5_000);
    expect(two.staleness().millis).toBeLessThan(3_000);
    expect(two.staleness().reason).toBeUndefined();
    await proxy.close();
  }, 30_000);

  test('need no warning where LISTEN works', async () => {
    const { lines, log } = logged();
    await opened(`store_${tables++}`, { log });
    expect(lines).toEqual([]);
  });
});

describe('a user of PostgreSQL', () => {
  test('needs no more than a database of its own: history and notifications are found without a warning', async () => {
    await server.query("CREATE ROLE plain LOGIN PASSWORD 'plain-pw-1'");
    await server.query('CREATE DATABASE plain OWNER plain');
    const { lines, log } = logged();
    const connectionUrl = `postgresql://plain:plain-pw-1@127.0.0.1:${server.port}/plain`;
    const [one, two] = [await opened('store', { connectionUrl, log }), await opened('store', { connectionUrl, log })];
    const { until } = ears(two);
    await one.commit({ put: [{ key: 'a', value: Buffer.from('a') }], notify: ['a'] });
    await until('a', 3_000);
    expect(lines).toEqual([]);
  });

  test('that may not learn the history is warned that failovers go unnoticed, and works otherwise', async () => {
    await server.query("CREATE ROLE kept_from LOGIN PASSWORD 'kept-pw-1'");
    await server.query('CREATE DATABASE kept_from OWNER kept_from');
    const superuser = new Client({ connectionString: server.url.replace(/postgres$/, 'kept_from') });
    await superuser.connect();
    await superuser.query('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC');
    const { lines, log } = logged();
    const connectionUrl = `postgresql://kept_from:kept-pw-1@127.0.0.1:${server.port}/kept_from`;
    const [one, two] = [await opened('store', { connectionUrl, log }), await opened('store', { connectionUrl })];
    expect(lines).toEqual(['PostgreSQL does not show its history to this user, so a failover that lost commits goes unnoticed']);
    const { until } = ears(two);
    await one.commit({ put: [{ key: 'a', value: Buffer.from('a') }], notify: ['a'] });
    await until('a', 3_000);
    await superuser.end();
  });
});

describe('a store of a driver that knew no transactions', () => {
  test('is taken up, and nodes of both kinds hear each other', async () => {
    const table = `store_${tables++}`;
    await server.query(`CREATE TABLE "${table}" (key text COLLATE "C" PRIMARY KEY, value bytea NOT NULL, version bigint NOT NULL)`);
    await server.query(`CREATE SEQUENCE "${table}_version" AS bigint`);
    await server.query(
      `CREATE TABLE "${table}_announced" (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), origin text NOT NULL, keys text[] NOT NULL)`,
    );
    await server.query(`INSERT INTO "${table}" VALUES ('old', 'old', 7)`);
    const driver = await opened(table);
    const { until } = ears(driver);
    expect(await driver.get('old')).toMatchObject({ version: 7 });
    // As the older driver does it.
    await server.query(
      `WITH announced AS (INSERT INTO "${table}_announced" (origin, keys) VALUES ('older', ARRAY['k']) RETURNING id) SELECT pg_notify('${table}', 'older ' || id) FROM announced`,
    );
    expect(await until('k', 3_000)).toBeLessThan(900);
    await driver.commit({ put: [{ key: 'old', value: Buffer.from('new') }] });
    expect((await driver.get('old'))!.version).toBeGreaterThan(7);
  });
});

describeWhere(pgbouncerMissing(), 'behind PgBouncer in transaction mode', () => {
  test('the driver warns of the pooler, hears the others within 3 s, and keeps its time limits in every transaction', async () => {
    const pooler = await startPgbouncer(server, 'transaction');
    const table = `store_${tables++}`;
    const { lines, log } = logged();
    const one = await opened(table);
    const two = await opened(table, { connectionUrl: pooler.url, log });
    expect(lines).toEqual([expect.stringMatching(/pooler/)]);
    const { until } = ears(two);
    await one.commit({ notify: ['policy'] });
    expect(await until('policy', 3_000)).toBeGreaterThan(0);
    const heardByOne = ears(one);
    await two.commit({ notify: ['back'], put: [{ key: 'a', value: Buffer.from('a') }] });
    await heardByOne.until('back', 3_000);
    // New sessions of the server know nothing of what the driver set before: a held lock shows whether its limits hold.
    await server.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'strongroom' AND pid <> pg_backend_pid()",
    );
    const holder = new Client({ connectionString: server.url });
    await holder.connect();
    await holder.query(`BEGIN; SELECT 1 FROM "${table}" WHERE key = 'a' FOR UPDATE`);
    const waiting = two.commit({ put: [{ key: 'a', value: Buffer.from('b') }] });
    await delay(100);
    const began = performance.now();
    await two.commit({ put: [{ key: 'b', value: Buffer.from('b') }] });
    expect(performance.now() - began).toBeLessThan(1_000);
    await holder.query('ROLLBACK');
    await waiting;
    await holder.end();
    await two.close();
    await pooler.stop();
  }, 60_000);
});

describeWhere(pgbouncerMissing(), 'behind PgBouncer in session mode', () => {
  test('nothing is said of a pooler, and notifications are heard at once', async () => {
    const pooler = await startPgbouncer(server, 'session');
    const table = `store_${tables++}`;
    const { lines, log } = logged();
    const one = await opened(table);
    const two = await opened(table, { connectionUrl: pooler.url, log });
    expect(lines).toEqual([]);
    const { until } = ears(two);
    expect(await six(one, until)).toBeLessThan(3_000);
    await two.close();
    await pooler.stop();
  }, 60_000);
});
