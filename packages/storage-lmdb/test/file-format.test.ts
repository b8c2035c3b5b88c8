import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { lmdbStorage } from '../src/index.ts';

/**
 * The driver reads the head of LMDB's file before LMDB does, since lmdb crashes the process on a file that it cannot open, and it drops
 * mapped pages of that file. LMDB promises neither the layout nor the mapping. When this fails on a new version of lmdb: compare `mdb.c`
 * (`MDB_meta`, `MDB_page`) with `META` in `src/folder.ts` and the flags of `mmap` with `src/mapped-pages.ts`. Do not release before stores
 * of the previous version open; where the format is another, a store has to be copied, which docs/operating.md must then say.
 */
test('LMDB keeps its file as the driver reads it: adapt folder.ts and mapped-pages.ts if it has changed', async () => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'strongroom-lmdb-')));
  const driver = await lmdbStorage({ path });
  await driver.commit({ put: [{ key: 'a', value: Buffer.from('x') }] });
  const data = join(path, 'data.mdb');
  const file = readFileSync(data);
  const meta = (page: number) => ({
    metaPage: (file.readUInt16LE(page + 18) & 8) !== 0,
    magic: file.readUInt32LE(page + 24),
    version: file.readUInt16LE(page + 28),
  });
  const pageSize = file.readUInt32LE(48);
  const last = Math.max(Number(file.readBigUInt64LE(144)), Number(file.readBigUInt64LE(pageSize + 144)));
  const transactions = [file.readBigUInt64LE(152), file.readBigUInt64LE(pageSize + 152)].map(Number);
  const expected = { metaPage: true, magic: 0xbeefc0de, version: 2 };
  expect([meta(0), meta(pageSize)]).toEqual([expected, expected]);
  expect(file.length).toBeGreaterThan(last * pageSize - 4_096 * pageSize);
  expect(Math.abs(transactions[0]! - transactions[1]!)).toBe(1);
  // Shared and for reading: dropping a page of such a mapping loses nothing.
  if (process.platform === 'linux') {
    const mapped = readFileSync('/proc/self/maps', 'utf8')
      .split('\n')
      .filter((line) => line.endsWith(data));
    expect(mapped.map((line) => line.split(' ')[1])).toEqual(mapped.map(() => 'r--s'));
    expect(mapped.length).toBeGreaterThan(0);
  }
  await driver.close();
  rmSync(path, { recursive: true });
});
