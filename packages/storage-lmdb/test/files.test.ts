import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { StorageFailure } from '@strongroom/storage-sdk';
import { lmdbStorage } from '../src/index.ts';

let parent = '';
let path = '';

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'strongroom-lmdb-'));
  path = join(parent, 'store', 'here');
});

afterEach(() => rmSync(parent, { recursive: true }));

const failure = async (opening: Promise<unknown>): Promise<StorageFailure> => {
  const error: unknown = await opening.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StorageFailure);
  return error as StorageFailure;
};

const onLinux = process.platform === 'linux' ? test : test.skip;
/** What the driver and the test wait with; the looks at what is mapped are intervals. */
const ALL_BUT_INTERVALS = ['setTimeout', 'setImmediate', 'queueMicrotask', 'nextTick', 'performance', 'hrtime', 'Date'] as const;

describe('the folder', () => {
  test('and its files belong to their owner alone', async () => {
    const driver = await lmdbStorage({ path });
    await driver.commit({ put: [{ key: 'a', value: Buffer.from('a') }] });
    expect((statSync(path).mode & 0o777).toString(8)).toBe('700');
    expect((statSync(join(path, 'data.mdb')).mode & 0o777).toString(8)).toBe('600');
    expect((statSync(join(path, 'lock.mdb')).mode & 0o777).toString(8)).toBe('600');
    await driver.close();
  });

  test('must not be a file', async () => {
    writeFileSync(join(parent, 'store'), '');
    expect((await failure(lmdbStorage({ path }))).reason).toBe('the path is not a folder');
  });

  test('must not be below a symbolic link to nothing', async () => {
    symlinkSync(join(parent, 'gone'), join(parent, 'store'));
    expect((await failure(lmdbStorage({ path }))).reason).toBe(
      `${join(parent, 'store')} is a symbolic link to ${join(parent, 'gone')}, which does not exist`,
    );
  });

  onLinux('must be one that can be made', async () => {
    const { reason } = await failure(lmdbStorage({ path: '/proc/none/here' }));
    expect(reason).toMatch(/ENOENT|denied/);
  });

  test('may be opened, closed and opened many times', async () => {
    for (let i = 0; i < 20; i++) {
      const driver = await lmdbStorage({ path });
      await driver.commit({ put: [{ key: `k/${i}`, value: Buffer.from(String(i)) }] });
      expect(await driver.range({ prefix: 'k/' })).toHaveLength(i + 1);
      await driver.close();
    }
  });
});

describe('a file in use that somebody removes or replaces', () => {
  test.each(['data.mdb', 'lock.mdb'])('takes no more writes, which would be lost: %s', async (name) => {
    const driver = await lmdbStorage({ path });
    await driver.commit({ put: [{ key: 'a', value: Buffer.from('a') }] });
    const file = join(path, name);
    const reason = `${file} was removed or replaced while it was in use; nothing was written: put it back, or restart the server and restore a snapshot`;
    renameSync(file, `${file}.away`);
    expect((await failure(driver.commit({ put: [{ key: 'b', value: Buffer.from('b') }] }))).reason).toBe(reason);
    copyFileSync(`${file}.away`, file);
    expect((await failure(driver.commit({ put: [{ key: 'b', value: Buffer.from('b') }] }))).reason).toBe(reason);
    expect(Buffer.from((await driver.get('a'))!.value).toString()).toBe('a');
    renameSync(`${file}.away`, file);
    await driver.commit({ put: [{ key: 'b', value: Buffer.from('b') }] });
    await driver.close();
  });
});

describe('a damaged file', () => {
  test('that begins with something else is refused in plain words', async () => {
    const driver = await lmdbStorage({ path });
    await driver.close();
    writeFileSync(join(path, 'data.mdb'), Buffer.alloc(40_960, 'x'));
    const { reason, message } = await failure(lmdbStorage({ path }));
    expect(reason).toBe('the file is damaged or is not an LMDB store');
    expect(message).toBe('storage lmdb: the file is damaged or is not an LMDB store');
  });

  test('that was cut short is refused', async () => {
    const driver = await lmdbStorage({ path });
    for (let i = 0; i < 6; i++) await driver.commit({ put: [{ key: `k/${i}`, value: Buffer.alloc(8 << 20) }] });
    await driver.close();
    truncateSync(join(path, 'data.mdb'), 1 << 20);
    expect((await failure(lmdbStorage({ path }))).reason).toBe('the file has been cut short');
  });
});

describe('the map', () => {
  test('grows beyond its first size', async () => {
    const driver = await lmdbStorage({ path, mapSizeBytes: 1 << 20 });
    for (let i = 0; i < 20; i++) await driver.commit({ put: [{ key: `k/${i}`, value: Buffer.alloc(1 << 20, i) }] });
    const found = await driver.range({ prefix: 'k/' });
    expect(found.map(({ key, value }) => value.length === 1 << 20 && value.every((byte) => byte === Number(key.slice(2))))).toEqual(
      Array(20).fill(true),
    );
    await driver.close();
  });

  test('loses its pages while readers, writers and large values are under way, and nobody notices', async () => {
    // Any mapped page is too much.
    const driver = await lmdbStorage({ path, residentBytes: -(2 ** 40) });
    const large = Buffer.alloc(32 << 20, 7);
    await driver.commit({ put: [{ key: 'large', value: large }] });
    const kept = (await driver.get('large'))?.value;
    await Promise.all(
      Array.from({ length: 16 }, async (_, writer) => {
        for (let i = 0; i < 300; i++) {
          const key = `k/${writer}/${i}`;
          await driver.commit({
            expect: [{ key, version: undefined }],
            put: [
              { key, value: Buffer.from(key) },
              { key: `count/${writer}`, value: Buffer.from(String(i)) },
            ],
          });
          expect(Buffer.from((await driver.get(key))?.value ?? []).toString()).toBe(key);
          if (i % 100 === 0) expect((await driver.get('large'))?.value.length).toBe(large.length);
        }
      }),
    );
    expect(await driver.range({ prefix: 'k/', keysOnly: true })).toHaveLength(16 * 300);
    expect(kept && large.equals(kept)).toBe(true);
    expect(large.equals((await driver.get('large'))?.value ?? Buffer.alloc(0))).toBe(true);
    await driver.close();
    expect(kept && large.equals(kept)).toBe(true);
  }, 60_000);

  onLinux('returns what it has mapped once nobody reads any more', async () => {
    jest.useFakeTimers({ doNotFake: [...ALL_BUT_INTERVALS] });
    const driver = await lmdbStorage({ path });
    try {
      await driver.commit({ put: [{ key: 'large', value: Buffer.alloc(20 << 20, 7) }] });
      const before = mappedBytes();
      await driver.get('large');
      const read = mappedBytes();
      expect(read - before).toBeGreaterThan(16 << 20);
      jest.advanceTimersByTime(500);
      expect(mappedBytes() - before).toBeLessThan(4 << 20);
      expect(Buffer.alloc(20 << 20, 7).equals((await driver.get('large'))?.value ?? Buffer.alloc(0))).toBe(true);
    } finally {
      jest.useRealTimers();
      await driver.close();
    }
  });

  onLinux('is kept in memory while many read', async () => {
    jest.useFakeTimers({ doNotFake: [...ALL_BUT_INTERVALS] });
    const driver = await lmdbStorage({ path });
    try {
      await driver.commit({ put: [{ key: 'large', value: Buffer.alloc(20 << 20, 7) }] });
      await driver.get('large');
      for (let i = 0; i < 300; i++) await driver.get('small');
      const read = mappedBytes();
      jest.advanceTimersByTime(250);
      expect(read - mappedBytes()).toBeLessThan(4 << 20);
    } finally {
      jest.useRealTimers();
      await driver.close();
    }
  });
});

/** Bytes of files in this process's resident memory. */
function mappedBytes(): number {
  return 1_024 * Number(/^RssFile:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]);
}
