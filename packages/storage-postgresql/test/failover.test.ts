// eslint-disable-next-line no-restricted-syntax -- PostgreSQL keeps the time of its failovers and reloads, and is asked until it is through
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { describeWhere, pgbouncerMissing, standbyMissing, startPgbouncer, startPostgres, type PostgresServer } from '@strongroom/lab';
import { EVERYTHING, StorageFailure, type StorageDriver, type Unsubscribe } from '@strongroom/storage-sdk';
import { postgresqlStorage, type PostgresqlOptions } from '../src/index.ts';

const servers: PostgresServer[] = [];
const drivers: StorageDriver[] = [];

afterEach(async () => {
  await Promise.all(drivers.splice(0).map((driver) => driver.close()));
  for (const server of servers.splice(0).reverse()) await server.stop();
}, 60_000);

async function pair(): Promise<{ primary: PostgresServer; standby: PostgresServer; url: string }> {
  const primary = await startPostgres({ settings: ['fsync=on'] });
  servers.push(primary);
  const standby = await startPostgres({ standbyOf: primary });
  servers.push(standby);
  // The standby first: it has to be passed over.
  const url = primary.url.replace(`127.0.0.1:${primary.port}`, `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`);
  return { primary, standby, url };
}

async function opened(connectionUrl: string, options: Partial<PostgresqlOptions> = {}): Promise<StorageDriver> {
  const driver = await postgresqlStorage({ connectionUrl, ...options });
  drivers.push(driver);
  return driver;
}

const put = (key: string, text: string) => ({ key, value: Buffer.from(text) });
const textOf = async (driver: StorageDriver, key: string) => Buffer.from((await driver.get(key))?.value ?? []).toString();

/** Until the standby has all that the primary has. */
async function caughtUp(primary: PostgresServer, standby: PostgresServer): Promise<void> {
  const [row] = await primary.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn');
  for (;;) {
    const [reached] = await standby.query<{ yes: boolean }>('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS yes', [row!.lsn]);
    if (reached?.yes) return;
    await delay(20);
  }
}

/** Until PostgreSQL answers with a row. */
async function untilFound(server: PostgresServer, query: string): Promise<void> {
  while ((await server.query(query)).length === 0) await delay(20);
}

async function untilWritten(driver: StorageDriver, key: string): Promise<number> {
  const began = performance.now();
  for (;;) {
    try {
      await driver.commit({ put: [put(key, 'written')] });
      return performance.now() - began;
    } catch (error) {
      expect(error).toBeInstanceOf(StorageFailure);
      if (performance.now() - began > 20_000) throw error;
      await delay(100);
    }
  }
}

describeWhere(await standbyMissing(), 'a failover', () => {
  test('needs nothing of the operator: writes go on within 10 s of the promotion, and nothing that was there is lost', async () => {
    const { primary, standby, url } = await pair();
    const [one, two] = [await opened(url), await opened(`${url}?load_balance_hosts=random`)];
    await one.commit({ put: [put('before', 'kept')] });
    await caughtUp(primary, standby);
    await primary.crash();
    const failure = (await one.commit({ put: [put('a', 'a')] }).catch((error: unknown) => error)) as StorageFailure;
    expect(failure.reason).toMatch(
      /no host of the connection URL can be used: .*the server takes no writes.*ECONNREFUSED|ECONNREFUSED.*takes no writes/,
    );
    expect(failure.message).not.toContain(primary.password);
    await standby.promote();
    const times = await Promise.all([untilWritten(one, 'one'), untilWritten(two, 'two')]);
    expect(Math.max(...times)).toBeLessThan(10_000);
    expect(await textOf(two, 'before')).toBe('kept');
    expect(await textOf(two, 'one')).toBe('written');
  }, 120_000);

  test('that lost acknowledged commits is reported as EVERYTHING before anything is answered, and gives no version twice', async () => {
    const { primary, standby, url } = await pair();
    const nodes = await Promise.all([opened(url), opened(url), opened(url)]);
    const one = nodes[0]!;
    const told = nodes.map(() => 0);
    const stops: Unsubscribe[] = nodes.map((node, i) => node.changes((changed) => (told[i]! += changed === EVERYTHING ? 1 : 0)));
    /** What each version of each key was seen with. */
    const seen = new Map<string, string>();
    const see = async (node: StorageDriver): Promise<void> => {
      for (const { key, version, value } of await node.range({})) {
        const text = Buffer.from(value).toString();
        expect(seen.get(`${key} ${version}`) ?? text).toBe(text);
        seen.set(`${key} ${version}`, text);
      }
    };
    await Promise.all(Array.from({ length: 50 }, (_, i) => one.commit({ put: [put(`k/${i}`, 'both')] })));
    await caughtUp(primary, standby);
    await standby.query("ALTER SYSTEM SET primary_conninfo = ''");
    await standby.query('SELECT pg_reload_conf()');
    while ((await primary.query('SELECT FROM pg_stat_replication')).length > 0) await delay(20);
    for (let i = 0; i < 80; i++) {
      await one.commit({ put: [put('k/1', `lost ${i}`)] });
      await see(one);
    }
    const stale = (await one.get('k/1'))!.version;
    await primary.crash();
    await standby.promote();
    // Whatever comes first must not be answered before the news.
    for (const [i, node] of nodes.entries()) {
      let text: string | undefined;
      for (const end = performance.now() + 20_000; text === undefined && performance.now() < end;) {
        text = await textOf(node, 'k/1').catch(() => undefined);
        if (text !== undefined) expect(told[i]).toBeGreaterThan(0);
      }
      expect(text).toBe('both');
    }
    await expect(one.commit({ expect: [{ key: 'k/1', version: stale }], put: [put('k/1', 'from the lost')] })).rejects.toThrow(/k\/1/);
    for (let i = 0; i < 100; i++) {
      await nodes[i % 3]!.commit({ put: [put('k/1', `new ${i}`)] });
      await see(one);
    }
    // And notifications go on in the new history.
    const heard: string[] = [];
    nodes[1]!.changes((changed) => heard.push(...(changed === EVERYTHING ? ['everything'] : changed)));
    await one.commit({ notify: ['after'] });
    for (const end = performance.now() + 5_000; !heard.includes('after') && performance.now() < end;) await delay(20);
    expect(heard).toContain('after');
    for (const stop of stops) stop();
  }, 120_000);

  test('leaves behind a server that comes back with the old history: nothing is read from it any more', async () => {
    const { primary, standby, url } = await pair();
    const driver = await opened(url);
    await driver.commit({ put: [put('a', 'a')] });
    await caughtUp(primary, standby);
    await primary.crash();
    await standby.promote();
    await untilWritten(driver, 'a');
    await primary.restart();
    await standby.crash();
    const failure = (await driver.get('a').catch((error: unknown) => error)) as StorageFailure;
    expect(failure.reason).toMatch(/this server was left behind by a failover: it is on timeline 1, and the store went on with timeline 2/);
    await standby.restart();
    expect(await textOf(driver, 'a')).toBe('written');
  }, 120_000);

  test('of a server that stops taking writes is noticed at the first write', async () => {
    const { primary, standby, url } = await pair();
    const driver = await opened(url);
    await driver.commit({ put: [put('a', 'a')] });
    await caughtUp(primary, standby);
    await standby.promote();
    await primary.query('ALTER SYSTEM SET default_transaction_read_only = on');
    await primary.query('SELECT pg_reload_conf()');
    await delay(200);
    expect(await untilWritten(driver, 'b')).toBeLessThan(5_000);
    expect((await standby.query("SELECT FROM strongroom_store WHERE key = 'b'")).length).toBe(1);
  }, 120_000);

  test('is warned of at the start where a standby is attached that no commit waits for', async () => {
    const { primary } = await pair();
    await untilFound(primary, 'SELECT FROM pg_stat_replication');
    const lines: string[] = [];
    const log = { info: () => undefined, warn: (message: string) => lines.push(message) };
    await opened(primary.url, { log });
    expect(lines).toEqual(['PostgreSQL has standbys, and no commit waits for them: a failover can lose commits that were acknowledged']);
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await primary.query('SELECT pg_reload_conf()');
    await untilFound(primary, "SELECT FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = '*'");
    lines.length = 0;
    await opened(primary.url, { log, table: 'another' });
    expect(lines).toEqual([]);
    await primary.query('ALTER ROLE postgres SET synchronous_commit = local');
    await opened(primary.url, { log, table: 'local' });
    expect(lines).toEqual(['PostgreSQL has standbys, and no commit waits for them: a failover can lose commits that were acknowledged']);
  }, 120_000);

  test('cannot lose a commit that waits for its standby: one that PostgreSQL makes without it is not acknowledged', async () => {
    const { primary, standby } = await pair();
    const driver = await opened(primary.url);
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await primary.query('SELECT pg_reload_conf()');
    await delay(200);
    await driver.commit({ put: [put('a', 'both')] });
    await standby.halt();
    // The connections are older than the setting, so PostgreSQL's own limit ends the wait.
    const waiting = driver.commit({ put: [put('a', 'alone')] }).catch((error: unknown) => error as StorageFailure);
    for (;;) {
      const cancelled = await primary.query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      if (cancelled.length > 0) break;
      await delay(50);
    }
    expect(await waiting).toMatchObject({
      reason: expect.stringMatching(/gave up waiting for its synchronous standby: the commit happened on one server alone/),
    });
  }, 120_000);
});

describeWhere((await standbyMissing()) ?? pgbouncerMissing(), 'a failover behind PgBouncer in transaction mode', () => {
  test('is noticed within 3 s, though no connection of the driver was lost', async () => {
    const { primary, standby } = await pair();
    const pooler = await startPgbouncer(primary, 'transaction');
    const driver = await opened(pooler.url);
    await driver.commit({ put: [put('a', 'a')] });
    await caughtUp(primary, standby);
    let told = 0;
    driver.changes((changed) => (told += changed === EVERYTHING ? 1 : 0));
    await standby.promote();
    await pooler.pointTo(standby);
    for (const end = performance.now() + 3_000; told === 0 && performance.now() < end;) await delay(20);
    expect(told).toBeGreaterThan(0);
    expect(await untilWritten(driver, 'b')).toBeLessThan(5_000);
    expect((await standby.query("SELECT FROM strongroom_store WHERE key = 'b'")).length).toBe(1);
    await driver.close();
    await pooler.stop();
  }, 120_000);
});
