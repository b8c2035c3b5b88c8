import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { StorageFailure, type StorageDriver } from '@strongroom/storage-sdk';
import { lmdbStorage } from '../src/index.ts';

let folder: string | undefined;

/** A disk of that size. Undefined where this process may not mount one. */
function smallDisk(mebibytes: number): string | undefined {
  const mounted = mkdtempSync(join(tmpdir(), 'strongroom-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', mounted], { stdio: 'ignore' });
    return (folder = mounted);
  } catch {
    rmdirSync(mounted);
    return undefined;
  }
}

function resize(mebibytes: number): void {
  execFileSync('mount', ['-o', `remount,size=${mebibytes}m`, folder!]);
}

afterEach(() => {
  if (folder === undefined) return;
  execFileSync('umount', ['--lazy', folder]);
  rmdirSync(folder);
  folder = undefined;
});

const disk = smallDisk(16);
const described = disk === undefined ? describe.skip : describe;

described(`a disk that fills up${disk === undefined ? ' (skipped: this process may not mount one)' : ''}`, () => {
  const value = Buffer.alloc(8_000, 1);
  let written = 0;

  /** Writes until the store refuses, and resolves with the refusals. */
  async function fill(driver: StorageDriver): Promise<unknown[]> {
    const refusals: unknown[] = [];
    const writer = async (): Promise<void> => {
      while (refusals.length === 0) {
        const key = `fill/${(written += 1)}`;
        await driver.commit({ put: [{ key, value }] }).catch((error: unknown) => refusals.push(error));
      }
    };
    await Promise.all(Array.from({ length: 24 }, writer));
    return refusals;
  }

  test('takes no write, serves what it has, and takes writes again once there is room', async () => {
    const driver = await lmdbStorage({ path: join(disk!, 'store') });
    for (let size = 20; size <= 32; size += 4) {
      for (const refusal of await fill(driver)) {
        expect(refusal).toBeInstanceOf(StorageFailure);
        expect(refusal).toMatchObject({ reason: 'the disk is full', full: true });
      }
      expect((await driver.get('fill/1'))?.value).toHaveLength(8_000);
      resize(size);
      expect(await driver.commit({ put: [{ key: `after/${size}`, value }] })).toBeGreaterThan(0);
    }
    const replacement = await driver.replace!();
    await expect(replacement.put([{ key: 'large', value: Buffer.alloc(2 ** 23) }])).rejects.toMatchObject({ full: true });
    await replacement.discard();
    expect((await driver.get('fill/1'))?.value).toHaveLength(8_000);
    await driver.close();
  });
});
