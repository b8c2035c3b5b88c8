import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FileLock } from '../src/file-lock.ts';
import { Gate, opening } from '../src/gate.ts';
import { lmdbStorage } from '../src/index.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'strongroom-gate-'));
});

afterEach(() => rmSync(root, { recursive: true }));

const prepared = (): string => root;

describe('whoever opens a store', () => {
  test('waits until all writers have stopped, and new ones wait meanwhile', async () => {
    writeFileSync(join(root, 'data.mdb'), '');
    const [one, two] = [new Gate(root, root), new Gate(root, root)];
    const order: string[] = [];
    let stop: () => void = () => undefined;
    const first = one.writing(async () => new Promise<void>((resolve) => (stop = resolve))).then(() => order.push('first written'));
    const opened = opening(root, prepared, () => order.push('opened'));
    // Its door is taken: the look of another shows it.
    const second = two.writing(async () => order.push('second written'));
    expect(order).toEqual([]);
    stop();
    await Promise.all([first, opened, second]);
    expect(order).toEqual(['first written', 'opened', 'second written']);
    one.close();
    two.close();
  });

  test('says what it waits for', async () => {
    writeFileSync(join(root, 'data.mdb'), '');
    const gate = new Gate(root, root);
    let stop: () => void = () => undefined;
    const written = gate.writing(async () => new Promise<void>((resolve) => (stop = resolve)));
    const warned: unknown[] = [];
    const warn = (message: string, fields: unknown): void => {
      warned.push(message, fields);
      stop();
    };
    await opening(root, prepared, () => undefined, { log: { info: () => undefined, warn }, afterMs: 50 });
    await written;
    expect(warned).toEqual([
      'the store is not open yet: another process is writing to it',
      { path: root, remedy: expect.stringContaining('this process gives up after 60 s') },
    ]);
    gate.close();
  });

  test('is alone', async () => {
    writeFileSync(join(root, 'data.mdb'), '');
    const seen = await opening(root, prepared, () => [root, join(root, 'data.mdb')].map((path) => new FileLock(path).tryShared()));
    expect(seen).toEqual([false, false]);
  });
});

// Elsewhere the system does not report its locks.
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('a process that opens a store twice keeps its lock on it until both are closed (Linux only)', async () => {
  const first = await lmdbStorage({ path: root });
  const locked = (): boolean =>
    new RegExp(`POSIX .* READ .*:${statSync(join(root, 'lock.mdb')).ino} 0 0$`, 'm').test(readFileSync('/proc/locks', 'utf8'));
  expect(locked()).toBe(true);
  const second = await lmdbStorage({ path: root });
  expect(locked()).toBe(true);
  await second.close();
  expect(locked()).toBe(true);
  await first.close();
  expect(locked()).toBe(false);
});
