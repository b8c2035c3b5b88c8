import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, sharedMemory, type CuttableStorage, type TestMount } from '@strongroom/engine-testkit';
import { Conflict, StorageFailure } from '@strongroom/storage-sdk';
import { Outside, testEngine } from '../../test-engine.ts';

describe('a store that takes no writes', () => {
  let driver: CuttableStorage;
  let mount: TestMount;
  let lines: string[];

  beforeEach(async () => {
    driver = sharedMemory().open();
    lines = [];
    const note = (line: string): void => void lines.push(line);
    const log = { debug: note, info: note, warn: note, error: note };
    mount = await mountForTest(testEngine(new Outside()), { storage: driver, path: 'acc', log });
  });
  afterEach(async () => mount.close());

  const health = async (): Promise<{ status: number; warnings: string[] | undefined }> => {
    const { status, raw } = await mount.call('read', 'sys/health');
    return { status, warnings: (JSON.parse(String(raw?.body)) as { warnings?: string[] }).warnings };
  };
  const write = async (): Promise<number> =>
    (await mount.call('update', 'sys/policies/acl/some', { data: { policy: 'path "a" { capabilities = ["read"] }' } })).status;

  test('is in sys/health with the reason, and no longer once it takes them again', async () => {
    const { commit } = driver;
    driver.commit = async () => Promise.reject(new StorageFailure('shared', 'the disk is full', { full: true }));
    expect(await write()).toBe(507);
    expect(await health()).toEqual({ status: 200, warnings: ['the last write to the store failed: storage shared: the disk is full'] });
    driver.commit = commit.bind(driver);
    expect(await write()).toBe(204);
    expect(await health()).toEqual({ status: 200, warnings: undefined });
  });

  test('has one line a minute in the log for a store that fails, and one when it takes writes again', async () => {
    const { commit } = driver;
    driver.commit = async () => Promise.reject(new StorageFailure('shared', 'the disk is full', { full: true }));
    for (let n = 0; n < 5; n += 1) expect(await write()).toBe(507);
    driver.commit = commit.bind(driver);
    for (let n = 0; n < 2; n += 1) expect(await write()).toBe(204);
    expect(lines.filter((line) => line.includes('store'))).toEqual(['the store is full', 'the store takes writes again']);
  });

  test.each([
    ['a write that is too large', new StorageFailure('shared', 'it is too large', { tooLarge: true })],
    ['one that may succeed at once', new StorageFailure('shared', 'a leader is being elected', { transient: true })],
    ['a conflict', new Conflict('key')],
  ])('is not supposed because of %s', async (_what, failure) => {
    const { commit } = driver;
    let fails = 1;
    driver.commit = async (change) => (fails-- > 0 ? Promise.reject(failure) : commit.call(driver, change));
    await write();
    expect((await health()).warnings).toBeUndefined();
  });
});
