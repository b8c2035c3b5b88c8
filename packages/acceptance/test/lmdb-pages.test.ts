import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import { checkPages } from '../src/torture/lmdb-pages.ts';

const HEADER = 24;

describe('the pages of a store that was written to and deleted from', () => {
  let folder: string;
  let file: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'strongroom-pages-'));
    const path = join(folder, 'store');
    file = join(path, 'data.mdb');
    const driver = await lmdbStorage({ path });
    const key = (i: number): string => `folder/${i % 400}`;
    // Values within pages and in pages of their own, over several levels of the tree.
    for (let i = 0; i < 1_200; i += 1) {
      const value = Buffer.alloc(i % 7 === 0 ? 9_000 : 300, i);
      await driver.commit({ put: [{ key: key(i), value }], ...(i % 3 === 0 ? { delete: [key(i + 200)] } : {}) });
    }
    await driver.close();
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A copy of the store with one change. */
  const changed = (change: (bytes: Buffer) => void): string => {
    const copy = join(folder, 'copy.mdb');
    copyFileSync(file, copy);
    const bytes = readFileSync(copy);
    change(bytes);
    writeFileSync(copy, bytes);
    return copy;
  };

  test('are each in one tree or free, and none is both', () => {
    const { pages, used, free, leaked, problems } = checkPages(file);
    expect(problems).toEqual([]);
    expect(leaked).toEqual([]);
    expect(used + free).toBe(pages);
    expect(used).toBeGreaterThan(100);
    expect(free).toBeGreaterThan(20);
  });

  test('that are free and in use at once are found', () => {
    const used = rootOf(readFileSync(file));
    const copy = changed((bytes) => entriesOfFree(bytes)(1)[0]!.write(used));
    expect(checkPages(copy).problems).toEqual([`page ${used} is the main tree and free`]);
  });

  test('that are free twice are found', () => {
    const copy = changed((bytes) => {
      const [one, another] = entriesOfFree(bytes)(2);
      another!.write(one!.page);
    });
    expect(checkPages(copy).problems).toEqual([expect.stringMatching(/^page \d+ is twice in free$/)]);
  });

  test('that two trees use are found', () => {
    const copy = changed((bytes) => {
      const root = rootOf(bytes) * pageBytes(bytes);
      const [first, second] = [0, 2].map((slot) => root + HEADER + bytes.readUInt16LE(root + HEADER + slot));
      bytes.copyWithin(second!, first!, first! + 6);
    });
    expect(checkPages(copy).problems).toContainEqual(expect.stringMatching(/^page \d+ is twice in the main tree$/));
  });

  test('that no list knows any more are reported as leaked', () => {
    const before = checkPages(file);
    const leaked: number[] = [];
    const copy = changed((bytes) => {
      const [entry] = entriesOfFree(bytes)(1);
      leaked.push(entry!.page);
      entry!.write(0);
    });
    expect(checkPages(copy)).toEqual({ ...before, free: before.free - 1, leaked });
  });

  test('are not looked for in a file of another program', () => {
    const copy = changed((bytes) => bytes.fill(0, 0, pageBytes(bytes)));
    expect(() => checkPages(copy)).toThrow('this is no LMDB file');
  });
});

/** The root of the main tree, which is a branch. */
function rootOf(bytes: Buffer): number {
  return Number(bytes.readBigUInt64LE(newestMeta(bytes) + 136));
}

function newestMeta(bytes: Buffer): number {
  const second = pageBytes(bytes);
  return bytes.readBigUInt64LE(152) > bytes.readBigUInt64LE(second + 152) ? 0 : second;
}

function pageBytes(bytes: Buffer): number {
  return bytes.readUInt32LE(48);
}

interface Entry {
  readonly page: number;
  write(page: number): void;
}

/** Single free pages in the last record of their list, which is short enough to be within a leaf. */
function entriesOfFree(bytes: Buffer): (count: number) => Entry[] {
  let page = Number(bytes.readBigUInt64LE(newestMeta(bytes) + 88)) * pageBytes(bytes);
  const nodes = (): number[] => {
    const count = bytes.readUInt16LE(page + 20) / 2;
    return Array.from({ length: count }, (_, i) => page + HEADER + bytes.readUInt16LE(page + HEADER + i * 2));
  };
  while (bytes.readUInt16LE(page + 18) & 1) page = bytes.readUInt16LE(nodes().at(-1)!) * pageBytes(bytes);
  const entries = nodes().flatMap((node) => {
    if (bytes.readUInt16LE(node + 4) & 1) return [];
    const list = node + 8 + bytes.readUInt16LE(node + 6);
    const count = Number(bytes.readBigInt64LE(list));
    const at = Array.from({ length: count }, (_, i) => list + 8 * (i + 1));
    return at
      .filter((here) => bytes.readBigInt64LE(here) > 0n && bytes.readBigInt64LE(here - 8) >= 0n)
      .map((here) => ({
        page: Number(bytes.readBigInt64LE(here)),
        write: (other: number) => void bytes.writeBigInt64LE(BigInt(other), here),
      }));
  });
  return (count) => entries.slice(-count);
}
