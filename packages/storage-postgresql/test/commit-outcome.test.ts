import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from '@jest/globals';
import { startFreezingProxy, startPostgres, type FreezingProxy, type Interception, type PostgresServer } from '@strongroom/lab';
import { StorageFailure, type StorageDriver } from '@strongroom/storage-sdk';
import { postgresqlStorage } from '../src/index.ts';

let server: PostgresServer;
let proxy: FreezingProxy;
let driver: StorageDriver;
let tables = 0;

beforeAll(async () => {
  server = await startPostgres();
}, 120_000);
afterAll(() => server.stop(), 60_000);

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
});
