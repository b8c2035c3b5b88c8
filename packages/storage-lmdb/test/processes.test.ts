import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Conflict } from '@strongroom/storage-sdk';
import type { ChangedKeys } from '@strongroom/storage-sdk';
import { lmdbStorage } from '../src/index.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let path = '';
let running: ChildProcess[] = [];

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'strongroom-lmdb-'));
});

afterEach(async () => {
  await Promise.all(
    running
      .filter((child) => child.exitCode === null && child.signalCode === null)
      .map((child) => (child.kill('SIGKILL'), once(child, 'exit'))),
  );
  running = [];
  rmSync(path, { recursive: true });
});

/** Starts test/process.ts, through `shell` when given: a prefix like a limit that the process shall have. `shared`: it shares transactions with others. */
function start(
  task: string,
  argument = '',
  { shell = '', shared = false }: { shell?: string; shared?: boolean } = {},
): { child: ChildProcess; lines: string[]; ended: Promise<number | null>; line(): Promise<void> } {
  const args = ['--no-warnings', '--import', here('../../lab/scripts/typescript-loader.mjs'), here('process.ts'), path, task, argument];
  if (shared) args.push('shared');
  const env = { ...process.env, NODE_OPTIONS: '' };
  const stdio: ['pipe', 'pipe', 'inherit' | 'ignore'] = ['pipe', 'pipe', shell ? 'ignore' : 'inherit'];
  const child = shell
    ? spawn('sh', ['-c', `${shell} exec "$0" "$@"`, process.execPath, ...args], { env, stdio })
    : spawn(process.execPath, args, { env, stdio });
  running.push(child);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  reader.on('line', (line) => lines.push(line));
  const ended = Promise.all([once(child, 'exit'), once(reader, 'close')]).then(([[code]]) => code as number | null);
  return { child, lines, ended, line: async () => void (lines.length > 0 || (await once(reader, 'line'))) };
}

/** And whether the processes share transactions. */
const WAYS_TO_WRITE = [
  ['by itself', false],
  ['in shared transactions', true],
] as const;

describe('several processes over one folder', () => {
  test.each(WAYS_TO_WRITE)(
    'lose no conditional increment, each %s',
    async (_how, shared) => {
      const children = Array.from({ length: 3 }, () => start('increment', '400', { shared }));
      expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0]);
      const driver = await lmdbStorage({ path });
      expect(Buffer.from((await driver.get('counter'))?.value ?? []).toString()).toBe('1200');
      await driver.close();
    },
    60_000,
  );

  test('open and close it in turn while another writes, and lose nothing', async () => {
    // In memory, where commits are frequent.
    const memory = '/dev/shm';
    rmSync(path, { recursive: true });
    path = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'strongroom-lmdb-'));
    const driver = await lmdbStorage({ path });
    let over = false;
    let acknowledged = 0;
    const increment = async (): Promise<void> => {
      while (!over) {
        const stored = await driver.get('counter');
        const next = Number(stored ? Buffer.from(stored.value).toString() : '0') + 1;
        const change = {
          expect: [{ key: 'counter', version: stored?.version }],
          put: [{ key: 'counter', value: Buffer.from(String(next)) }],
        };
        const done = await driver.commit(change).then(
          () => true,
          (error: unknown) => {
            if (error instanceof Conflict) return false;
            throw error;
          },
        );
        if (done) acknowledged += 1;
      }
    };
    const writers = [increment(), increment()];
    const children = [start('open', '400'), start('open', '400')];
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0]);
    over = true;
    await Promise.all(writers);
    expect(acknowledged).toBeGreaterThan(0);
    expect(Buffer.from((await driver.get('counter'))?.value ?? []).toString()).toBe(String(acknowledged));
    await driver.close();
  }, 60_000);

  test('write again once a process that was opening it is killed', async () => {
    const driver = await lmdbStorage({ path });
    const child = start('door');
    await child.line();
    let written = false;
    const commit = driver.commit({ put: [{ key: 'a', value: Buffer.from('a') }] }).then(() => (written = true));
    // The store is read meanwhile.
    expect(await driver.get('a')).toBeUndefined();
    expect(written).toBe(false);
    child.child.kill('SIGKILL');
    await commit;
    expect(await driver.get('a')).toBeDefined();
    await driver.close();
  }, 60_000);

  test.each(WAYS_TO_WRITE)(
    'write at once under load, each %s, and no commit of theirs fails',
    async (_how, shared) => {
      const children = Array.from({ length: 3 }, () => start('load', '12000', { shared }));
      expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0]);
      for (const { lines } of children) expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({ failed: 0, missing: 0 });
    },
    120_000,
  );

  test('receive the change notifications of others', async () => {
    const driver = await lmdbStorage({ path });
    const child = start('echo');
    await child.line();
    let heard: (changed: ChangedKeys) => void = () => undefined;
    driver.changes((keys) => heard(keys));
    for (let i = 0; i < 10; i++) {
      const answer = new Promise<ChangedKeys>((resolve) => (heard = resolve));
      await driver.commit({ notify: [`policy/${i}`] });
      expect(await answer).toEqual([`echo of policy/${i}`]);
    }
    child.child.kill('SIGKILL');
    await driver.close();
  }, 60_000);

  test('see each other’s keys after one was killed in the middle of its writes', async () => {
    const driver = await lmdbStorage({ path });
    const child = start('crash', 'round');
    await child.line();
    child.child.kill('SIGKILL');
    await child.ended;
    await driver.commit({ put: [{ key: 'after', value: Buffer.from('x') }] });
    expect(await driver.get(`a/${child.lines[0]}`)).toBeDefined();
    await driver.close();
  }, 60_000);
});

describe('a process that is killed', () => {
  test('loses nothing that was answered, in five rounds with 64 writers', async () => {
    for (let round = 0; round < 5; round++) {
      const child = start('crash', String(round));
      while (child.lines.length < 2_000 * (round + 1)) await once(child.child.stdout as NodeJS.ReadableStream, 'data');
      child.child.kill('SIGKILL');
      await child.ended;
      const driver = await lmdbStorage({ path });
      const missing: string[] = [];
      for (const id of child.lines) {
        // The last line may have been cut.
        if (!/^\d+\/\d+\/\d+$/.test(id) || id === child.lines.at(-1)) continue;
        for (const part of ['a', 'b', 'c'])
          if (Buffer.from((await driver.get(`${part}/${id}`))?.value ?? []).toString() !== id) missing.push(id);
      }
      // And of what was not answered, all or nothing is there.
      const present = await Promise.all(
        ['a', 'b', 'c'].map(async (part) =>
          (await driver.range({ prefix: `${part}/${round}/`, keysOnly: true })).map(({ key }) => key.slice(2)),
        ),
      );
      await driver.close();
      expect(missing).toEqual([]);
      expect(present[1]).toEqual(present[0]);
      expect(present[2]).toEqual(present[0]);
    }
  }, 120_000);
});

describe('the process that writes for others', () => {
  test('loses nothing that they have acknowledged when it is killed, and they go on', async () => {
    const children: ReturnType<typeof start>[] = [];
    for (const name of ['first', 'second', 'third']) {
      const child = start('crash', name, { shared: true });
      children.push(child);
      // The first one becomes the writer.
      await child.line();
    }
    const more = async (child: (typeof children)[number], lines: number): Promise<void> => {
      for (const until = child.lines.length + lines; child.lines.length < until;)
        await once(child.child.stdout as NodeJS.ReadableStream, 'data');
    };
    // Each in turn, as the next one takes over.
    for (let alive = children; alive.length > 0; alive = alive.slice(1)) {
      await Promise.all(alive.map(async (child) => more(child, 300)));
      alive[0]!.child.kill('SIGKILL');
      await alive[0]!.ended;
    }
    const driver = await lmdbStorage({ path });
    const missing: string[] = [];
    for (const { lines } of children) {
      // The last line may have been cut.
      for (const id of lines.slice(0, -1))
        for (const part of ['a', 'b', 'c'])
          if (Buffer.from((await driver.get(`${part}/${id}`))?.value ?? []).toString() !== id) missing.push(`${part}/${id}`);
    }
    await driver.close();
    expect(missing).toEqual([]);
  }, 120_000);
});

describe('a process that exits with writes under way', () => {
  test('ends with its code, and others go on writing', async () => {
    const driver = await lmdbStorage({ path });
    expect(await start('exit').ended).toBe(3);
    await driver.commit({ put: [{ key: 'after', value: Buffer.from('x') }] });
    expect(Buffer.from((await driver.get('after'))?.value ?? []).toString()).toBe('x');
    await driver.close();
  }, 30_000);
});

describe('a process under load', () => {
  // Elsewhere the system neither tells how much is mapped nor takes it back.
  const onLinux = process.platform === 'linux' ? test : test.skip;

  onLinux(
    'fails no commit, loses none, and keeps little of the file in its memory (Linux only)',
    async () => {
      const child = start('load', '80000');
      expect(await child.ended).toBe(0);
      const { failed, missing, fileBytes, grownBytes } = JSON.parse(child.lines[0] ?? '{}') as Record<string, number>;
      expect({ failed, missing }).toEqual({ failed: 0, missing: 0 });
      expect(fileBytes).toBeGreaterThan(80 * 2 ** 20);
      // 8 MiB, and what is mapped between two looks.
      expect(grownBytes).toBeLessThan(40 * 2 ** 20);
    },
    180_000,
  );
});

describe('a disk that is full', () => {
  test('rejects the commit with a plain failure and serves reads and later commits', async () => {
    const child = start('fill', '', { shell: "trap '' XFSZ; ulimit -f 20000;" });
    expect(await child.ended).toBe(0);
    expect(JSON.parse(child.lines[0] ?? '{}')).toEqual({
      plain: expect.stringMatching(/^the disk is full/),
      kept: 'kept',
      whole: true,
      later: 'stored',
      found: 100_000,
    });
    const driver = await lmdbStorage({ path });
    expect(Buffer.from((await driver.get('early'))?.value ?? []).toString()).toBe('kept');
    await driver.close();
  }, 60_000);

  test.each([
    ['one driver', '1500'],
    ['two drivers of one process', '100 two'],
  ])(
    'answers each of many commits of %s that come while others fail, and keeps what it acknowledged',
    async (_who, argument) => {
      const child = start('crowd', argument, { shell: "trap '' XFSZ; ulimit -f 20000;" });
      expect(await child.ended).toBe(0);
      expect(JSON.parse(child.lines[0] ?? '{}')).toEqual({ unhandled: 0, missing: 0, some: true });
    },
    60_000,
  );
});
