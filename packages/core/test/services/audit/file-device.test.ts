import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BadRequest, silentLog, systemClock } from '@strongroom/engine-sdk';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { AuditDevice } from '../../../src/services/audit/audit-device.ts';
import { fileAudit, FileDevice, fileOptions } from '../../../src/services/audit/file-device.ts';
import { stdoutDevice } from '../../../src/services/audit/stdout-device.ts';
import { ManualClock } from './manual-clock.ts';

let folder: string;
let clock: ManualClock;
const open: AuditDevice[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-file-'));
  clock = new ManualClock();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((device) => device.close()));
  await rm(folder, { recursive: true });
});

async function device(options: Record<string, string>): Promise<AuditDevice> {
  const opened = await fileAudit.open(options, { clock, log: silentLog });
  open.push(opened);
  return opened;
}
const content = (path: string): Promise<string> => readFile(path, 'utf8');

/** Whoever may mount has a disk that is full soon. */
const mayMount = ((): boolean => {
  const place = mkdtempSync(join(tmpdir(), 'audit-mount-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', 'none', place]).status === 0;
  if (mounted) spawnSync('umount', [place]);
  rmdirSync(place);
  return mounted;
})();
const smallDisk = (title: string, body: () => Promise<void>): void =>
  mayMount ? test(title, body) : test.skip(`${title} (skipped: this user may not mount a small disk)`, body);

describe('a file', () => {
  test('is made with its folders, for its owner only, and appended to', async () => {
    const path = join(folder, 'a', 'b', 'audit.log');
    const log = await device({ file_path: path });
    await log.write(['one', 'two']);
    await log.write(['three']);
    expect(await content(path)).toBe('one\ntwo\nthree\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const again = await device({ path });
    await again.write(['four']);
    expect(await content(path)).toBe('one\ntwo\nthree\nfour\n');
  });

  test('whose last line was cut off when the machine stopped loses that line only', async () => {
    const path = join(folder, 'audit.log');
    await writeFile(path, 'one\n{"cut');
    await (await device({ path })).write(['two']);
    await (await device({ path })).write(['three']);
    expect(await content(path)).toBe('one\n{"cut\ntwo\nthree\n');
  });

  smallDisk('on a full disk fails and says so, and goes on in a new line once there is room', async () => {
    const disk = join(folder, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', disk]);
    try {
      const path = join(disk, 'audit.log');
      const log = await device({ path });
      await writeFile(join(disk, 'other'), 'x'.repeat(57_344));
      const line = JSON.stringify('y'.repeat(6_000));
      await log.write([line]);
      await expect(log.write([line])).rejects.toThrow('ENOSPC');
      await unlink(join(disk, 'other'));
      const again = await device({ path });
      await again.write(['"after"']);
      const lines = (await content(path)).trimEnd().split('\n');
      expect([lines[0], lines.at(-1), lines.length <= 3]).toEqual([line, '"after"', true]);
    } finally {
      await Promise.all(open.splice(0).map((one) => one.close()));
      execFileSync('umount', [disk]);
    }
  });

  test('gets the mode that is asked for, without execution; 0000 leaves it alone', async () => {
    const path = join(folder, 'audit.log');
    await writeFile(path, '', { mode: 0o644 });
    await device({ file_path: path, mode: '0000' });
    expect((await stat(path)).mode & 0o777).toBe(0o644);
    await device({ file_path: path, mode: '0750' });
    expect((await stat(path)).mode & 0o777).toBe(0o640);
  });

  test('that was moved is left, and a new one begun, at once when told and within a second by itself', async () => {
    const path = join(folder, 'audit.log');
    const log = await device({ file_path: path });
    await log.write(['one']);
    await rename(path, `${path}.1`);
    await log.reopen();
    await log.write(['two']);
    await rename(path, `${path}.2`);
    clock.advance(1000);
    await log.write(['three']);
    expect([await content(`${path}.1`), await content(`${path}.2`), await content(path)]).toEqual(['one\n', 'two\n', 'three\n']);
  });

  test('that was deleted is noticed within a second', async () => {
    const path = join(folder, 'audit.log');
    const log = await device({ file_path: path });
    await log.write(['one']);
    await unlink(path);
    clock.advance(1000);
    await log.write(['two']);
    expect(await content(path)).toBe('two\n');
  });

  test('on a full disk fails the write, and goes on when there is room', async () => {
    await expect((await device({ file_path: '/dev/full', mode: '0000' })).write(['one'])).rejects.toThrow('ENOSPC');
  });

  test('loses one line where the disk filled up in its middle, and no other', async () => {
    const path = join(folder, 'audit.log');
    const { writeSync } = await import('node:fs');
    let room = 6;
    const log = new FileDevice(fileOptions({ file_path: path }), clock, silentLog, async (fd, bytes, offset) => {
      if (room === 0) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      const count = writeSync(fd, bytes, offset, Math.min(room, bytes.length - offset));
      room -= count;
      return count;
    });
    open.push(log);
    await expect(log.write(['one', 'two'])).rejects.toThrow('ENOSPC');
    room = 1000;
    await log.write(['three']);
    expect(await content(path)).toBe('one\ntw\nthree\n');
  });

  test('is opened once more when a write fails, and the batch goes on where it stopped', async () => {
    const path = join(folder, 'audit.log');
    const { writeSync } = await import('node:fs');
    let faults = 1;
    let short = true;
    const log = new FileDevice(fileOptions({ file_path: path }), clock, silentLog, async (fd, bytes, offset) => {
      if (short) {
        short = false;
        return writeSync(fd, bytes, offset, 2);
      }
      if (faults-- > 0) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      return writeSync(fd, bytes, offset);
    });
    open.push(log);
    await log.write(['one', 'two']);
    expect(await content(path)).toBe('one\ntwo\n');
  });

  test('that cannot be opened says so', async () => {
    await expect(device({ file_path: folder })).rejects.toThrow(`unable to open "${folder}" for writing: EISDIR`);
  });
});

describe('a pipe', () => {
  const pipe = (): string => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    return path;
  };

  test('that nobody reads cannot be opened, and blocks nothing', async () => {
    await expect(device({ file_path: pipe(), mode: '0000' })).rejects.toThrow('ENXIO');
  });

  test('whose reader stopped holds its own write only; closing ends it', async () => {
    const path = pipe();
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const log = await device({ file_path: path, mode: '0000' });
    const big = 'x'.repeat(1 << 18);
    let settled = false;
    const write = log.write([big]).finally(() => (settled = true));
    write.catch(() => {});
    // The disk still answers while the pipe is full.
    for (let count = 0; count < 8; count += 1) await stat(folder);
    expect(settled).toBe(false);
    await log.close();
    await expect(write).rejects.toThrow('the device was closed');
    closeSync(reader);
  });

  test('whose reader goes on gets every byte', async () => {
    const path = pipe();
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const log = await fileAudit.open({ file_path: path, mode: '0000' }, { clock: systemClock, log: silentLog });
    open.push(log);
    let written = false;
    const write = log.write(['x'.repeat(1 << 18)]).finally(() => (written = true));
    let read = 0;
    const buffer = Buffer.alloc(1 << 16);
    while (!written || read < (1 << 18) + 1) {
      try {
        read += readSync(reader, buffer);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    await write;
    expect(read).toBe((1 << 18) + 1);
    closeSync(reader);
  });
});

describe('standard output', () => {
  test('gets the lines, through the descriptor where its name cannot be opened', async () => {
    const path = join(folder, 'out');
    await writeFile(path, '');
    const named = await stdoutDevice(clock, { path, fd: -1 });
    await named.write(['one']);
    await named.close();
    await expect(named.write(['late'])).rejects.toThrow('the device was closed');
    const fd = openSync(path, 'a');
    const inherited = await stdoutDevice(clock, { path: join(folder, 'missing'), fd });
    await inherited.write(['two', 'three']);
    await inherited.close();
    closeSync(fd);
    expect(await content(path)).toBe('one\ntwo\nthree\n');
  });

  test('and nowhere are names of the file type', async () => {
    const nowhere = await device({ file_path: 'discard' });
    await nowhere.write(['gone']);
    await expect(stat('discard')).rejects.toThrow('ENOENT');
    await device({ file_path: 'stdout' });
    await expect(stat('stdout')).rejects.toThrow('ENOENT');
  });
});

test.each([
  [{}, 'file_path is required'],
  [{ file_path: '' }, 'file_path is required'],
  [{ file_path: 'a\0b' }, 'file_path cannot hold a NUL character'],
  [{ file_path: '/a', mode: 'rw' }, 'mode "rw" is not valid; must be octal permissions such as "0600"'],
  [{ file_path: '/a', mode: '0999' }, 'mode "0999" is not valid; must be octal permissions such as "0600"'],
])('the options %j are refused', (options, text) => {
  expect(() => fileAudit.check(options as Record<string, string>)).toThrow(new BadRequest(text));
});
