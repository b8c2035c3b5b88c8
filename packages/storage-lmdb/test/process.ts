// One more process over a store, told what to do by its arguments: `process.ts <folder> <task> <argument> [shared]`.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Conflict, EVERYTHING, StorageFailure } from '@strongroom/storage-sdk';
import { FileLock } from '../src/file-lock.ts';
import { lmdbStorage } from '../src/index.ts';

const [path = '', task = '', argument = '', shared = ''] = process.argv.slice(2);
const RESIDENT_BYTES = 8 * 2 ** 20;
const driver = await lmdbStorage({ path, shareTransactions: shared !== '', ...(task === 'load' && { residentBytes: RESIDENT_BYTES }) });
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

async function increment(key: string): Promise<void> {
  for (;;) {
    const stored = await driver.get(key);
    const next = Number(stored ? Buffer.from(stored.value).toString() : '0') + 1;
    try {
      await driver.commit({ expect: [{ key, version: stored?.version }], put: [{ key, value: Buffer.from(String(next)) }] });
      return;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }
}

async function writeWithoutEnd(writer: number): Promise<void> {
  for (let i = 0; ; i++) {
    const id = `${argument}/${writer}/${i}`;
    const put = ['a', 'b', 'c'].map((part) => ({ key: `${part}/${id}`, value: Buffer.from(id) }));
    await driver.commit(writer % 2 ? { put } : { put, expect: [{ key: `a/${id}`, version: undefined }] });
    say(id);
  }
}

/** Bytes of files in this process's resident memory. */
const mapped = (): number => 1_024 * Number(/^RssFile:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]);

/** Commits of four keys, each on condition of a fifth, all over the store, by 32 writers; then as many reads. */
async function load(commits: number): Promise<void> {
  const before = mapped();
  let most = before;
  let failed = 0;
  let missing = 0;
  // As if hashed: spread evenly, each number once.
  const spread = (i: number): string => ((i * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0');
  const keysOf = (i: number): string[] => ['lease', 'owner', 'token', 'index'].map((part) => `${part}/${spread(i)}/${process.pid}`);
  const root = `root/${process.pid}`;
  await driver.commit({ put: [{ key: root, value: Buffer.from('r') }] });
  const version = (await driver.get(root))?.version;
  const everywhere = async (work: (i: number) => Promise<void>): Promise<void> => {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < commits) {
        const i = next++;
        await work(i);
        if (i % 1_000 === 0) most = Math.max(most, mapped());
      }
    };
    await Promise.all(Array.from({ length: 32 }, worker));
  };
  await everywhere(async (i) => {
    const put = keysOf(i).map((key, part) => ({ key, value: Buffer.alloc(part === 0 ? 400 : 80, i) }));
    await driver.commit({ expect: [{ key: root, version }], put }).catch(() => failed++);
  });
  const fileBytes = statSync(join(path, 'data.mdb')).size;
  await everywhere(async (i) => {
    for (const key of keysOf(i)) if (!(await driver.get(key))) missing++;
  });
  say(JSON.stringify({ failed, missing, fileBytes, grownBytes: most - before }));
}

if (task === 'open') {
  await driver.close();
  for (let i = 1; i < Number(argument); i++) await (await lmdbStorage({ path })).close();
} else if (task === 'door') {
  // Like a process that is opening the store, and never ends that.
  if (!new FileLock(path).tryExclusively()) throw new Error('the door is taken');
  process.stdin.resume();
  say('taken');
} else if (task === 'load') {
  await load(Number(argument));
  await driver.close();
} else if (task === 'increment') {
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let i = 0; i < Number(argument) / 8; i++) await increment('counter');
    }),
  );
  await driver.close();
} else if (task === 'crash') {
  await Promise.all(Array.from({ length: 64 }, (_, writer) => writeWithoutEnd(writer)));
} else if (task === 'exit') {
  // In the middle of a turn of the event loop, with more writes than lmdb begins a transaction for by default.
  for (let i = 0; i < 2_000; i++) void driver.commit({ put: [{ key: `unfinished/${i}`, value: Buffer.from('x') }] });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  process.exit(3);
} else if (task === 'echo') {
  driver.changes((keys) => {
    if (keys === EVERYTHING) return;
    void driver.commit({ notify: keys.map((key) => `echo of ${key}`) });
    if (keys.includes('stop')) void driver.close();
  });
  // The driver alone keeps no process alive.
  process.stdin.resume();
  say('ready');
} else if (task === 'crowd') {
  // As fill, but commits come at any moment, also while others fail, until so many have failed; with `two`, from two drivers that share the file.
  const [failures, two] = argument.split(' ');
  const drivers = two ? ([driver, await lmdbStorage({ path })] as const) : ([driver, driver] as const);
  const filler = Buffer.alloc(8_000, 1);
  let unhandled = 0;
  process.on('unhandledRejection', () => (unhandled += 1));
  let [begun, failed] = [0, 0];
  const acknowledged: string[] = [];
  const writer = async (_: unknown, number: number): Promise<void> => {
    while (failed < Number(failures)) {
      for (let turns = Math.floor(Math.random() * 12); turns > 0; turns--) await new Promise(setImmediate);
      const key = number < 12 ? `small/${number}` : `large/${(begun += 1)}`;
      const change =
        number < 12
          ? { put: [{ key, value: Buffer.from('s') }] }
          : { put: [{ key, value: filler }], expect: [{ key, version: undefined }] };
      await drivers[number % 2]!.commit(change).then(
        () => acknowledged.push(key),
        () => (failed += 1),
      );
    }
  };
  await Promise.all(Array.from({ length: 24 }, writer));
  const there = await Promise.all(acknowledged.map((key) => drivers[1].get(key)));
  say(JSON.stringify({ unhandled, missing: there.filter((stored) => stored === undefined).length, some: acknowledged.length > 100 }));
  await Promise.all(drivers.map((each) => each.close()));
} else if (task === 'fill') {
  // Its files may not grow beyond a limit that its parent has set.
  const filler = Buffer.alloc(100_000, 1);
  let stored = 0;
  let failure: unknown;
  await driver.commit({ put: [{ key: 'early', value: Buffer.from('kept') }] });
  while (failure === undefined) {
    const results = await Promise.allSettled(
      Array.from({ length: 4 }, () => driver.commit({ put: [{ key: `fill/${stored++}`, value: filler }] })),
    );
    failure = results
      .map((result) => (result.status === 'rejected' ? (result.reason as unknown) : undefined))
      .find((reason) => reason !== undefined);
  }
  const kept = await driver.get('early');
  const listed = await driver.range({ prefix: 'fill/', keysOnly: true });
  // Freed space is taken up again once no reader and no later transaction needs the old pages.
  for (let i = 0; i < 5; i++) await driver.commit({ delete: listed.slice(i * 2, i * 2 + 2).map(({ key }) => key) }).catch(() => undefined);
  const later = await driver.commit({ put: [{ key: 'later', value: filler }] }).then(() => 'stored', String);
  say(
    JSON.stringify({
      plain: failure instanceof StorageFailure && failure.reason,
      kept: Buffer.from(kept?.value ?? []).toString(),
      whole: listed.every(({ key }) => Number(key.slice(5)) < stored),
      later,
      found: (await driver.get('later'))?.value.length,
    }),
  );
  await driver.close();
}
