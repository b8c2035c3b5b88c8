import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Change } from '@strongroom/storage-sdk';
import { Environment } from '../src/environment.ts';
import { FileLock } from '../src/file-lock.ts';
import type { Batch, Outcome } from '../src/shared-transactions/batch.ts';
import { framed } from '../src/shared-transactions/frames.ts';
import { writeBatch } from '../src/shared-transactions/sender-records.ts';
import { NOT_WRITTEN, SharedTransactions } from '../src/shared-transactions/shared-transactions.ts';
import { WriterServer, writerSocketIn } from '../src/shared-transactions/writer-server.ts';

const SENDER = 7;
/** Long enough for every answer that is to come. */
const PATIENT = 60_000;

describe('a process that sends its changes to the writer', () => {
  let path = '';
  let environment: Environment;
  let writer: WriterServer | undefined;
  let sender: SharedTransactions;
  /** What the writer does with a batch. */
  let answer: (batch: Batch) => Promise<Outcome>;
  let received: Batch[];

  const put = (key: string, text = key): Change => ({ put: [{ key, value: Buffer.from(text) }] });
  const putOnce = (key: string): Change => ({ ...put(key), expect: [{ key, version: undefined }] });
  const stored = (key: string): string | undefined => {
    environment.db.resetReadTxn();
    const value = environment.db.get(key);
    return value && Buffer.from(value).toString();
  };
  const ownKeys = (): string[] => {
    environment.db.resetReadTxn();
    return [...environment.db.getKeys({ start: '\0sender/', end: '\0sender0' })].map(String);
  };
  const apply = async (batch: Batch): Promise<Outcome> => {
    const results = await environment.writing((db) => writeBatch(db, batch));
    return results ? { kind: 'applied', results } : { kind: 'refused' };
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const connected = async (): Promise<void> => {
    while (!sender.takes(put('any'))) await turn();
  };
  const nobody = async (): Promise<Outcome> => Promise.reject(new Error('this process is not the writer'));
  const begin = (patienceMs = PATIENT): void => {
    sender = new SharedTransactions(environment, { sender: SENDER, apply: nobody, patienceMs });
  };

  beforeEach(async () => {
    path = mkdtempSync(join(tmpdir(), 'strongroom-lmdb-'));
    environment = await Environment.open(path);
    received = [];
    answer = apply;
    writer = await WriterServer.begin(path, async (batch) => {
      received.push(batch);
      return answer(batch);
    });
    begin();
    await connected();
  });

  afterEach(async () => {
    await sender.close();
    await writer?.close();
    await environment.close();
    rmSync(path, { recursive: true });
  });

  test('sends those of one turn together, and each has its own result', async () => {
    const results = await Promise.all([sender.write(putOnce('a'), 11), sender.write(putOnce('a'), 12), sender.write(put('b'), 13)]);
    expect(results).toEqual([null, 'a', null]);
    expect(received.map(({ changes }) => changes.length)).toEqual([3]);
    expect([stored('a'), stored('b'), environment.db.getEntry('a')?.version]).toEqual(['a', 'b', 11]);
  });

  test('does not wait for one batch before it sends the next', async () => {
    const ends: (() => void)[] = [];
    answer = async (batch) => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return apply(batch);
    };
    const first = sender.write(put('a'), 11);
    while (received.length < 1) await turn();
    const second = sender.write(put('b'), 12);
    while (received.length < 2) await turn();
    for (const end of ends.reverse()) end();
    expect(await Promise.all([first, second])).toEqual([null, null]);
  });

  test('writes itself what the writer refuses', async () => {
    answer = async () => Promise.resolve({ kind: 'refused' });
    expect(await sender.write(put('a'), 11)).toBe(NOT_WRITTEN);
    answer = apply;
    expect(await sender.write(put('a'), 12)).toBeNull();
  });

  test('reports why the writer failed', async () => {
    answer = async () => Promise.resolve({ kind: 'failed', reason: 'the disk is full', full: true });
    await expect(sender.write(put('a'), 11)).rejects.toMatchObject({ reason: 'the disk is full', full: true });
  });

  test('writes itself what the writer had not applied when it went', async () => {
    answer = async () => {
      await writer?.close();
      return { kind: 'refused' };
    };
    expect(await sender.write(put('a'), 11)).toBe(NOT_WRITTEN);
    expect(stored('a')).toBeUndefined();
  });

  test('knows what the writer had applied when it went', async () => {
    answer = async (batch) => {
      const outcome = await apply(batch);
      await writer?.close();
      return outcome;
    };
    const results = await Promise.all([sender.write(putOnce('a'), 11), sender.write(putOnce('a'), 12), sender.write(put('b'), 13)]);
    // It tries the second one itself, and finds the first.
    expect(results).toEqual([null, NOT_WRITTEN, null]);
    expect(environment.db.getEntry('a')?.version).toBe(11);
  });

  test('tells a change that was made from an earlier one of the same slot', async () => {
    expect(await sender.write(put('a', 'first'), 11)).toBeNull();
    answer = async () => {
      await writer?.close();
      return { kind: 'refused' };
    };
    expect(await sender.write(put('a', 'second'), 12)).toBe(NOT_WRITTEN);
    expect(stored('a')).toBe('first');
  });

  test('makes nothing of a batch whose epoch is over, also where a change expects that a key is missing', async () => {
    await sender.write(put('a'), 11);
    const { epoch } = received[0]!;
    const change = (key: string): Change => ({
      ...put(key, 'again'),
      expect: [
        { key: 'a', version: 11 },
        { key: 'none', version: undefined },
      ],
    });
    const changes = ['a', 'b', 'c'].map((key, at) => ({ change: change(key), version: 12 + at, slot: 10 + at }));
    const batch = { number: 2, store: path, sender: SENDER, changes };
    expect(await apply({ ...batch, epoch: epoch + 1 })).toEqual({ kind: 'refused' });
    expect(['a', 'b', 'c'].map(stored)).toEqual(['a', undefined, undefined]);
    expect(await apply({ ...batch, epoch })).toEqual({ kind: 'applied', results: [null, 'a', 'a'] });
  });

  test('writes itself what a writer does not answer in time, which then applies it no more', async () => {
    await sender.close();
    begin(20);
    await connected();
    let late: Promise<Outcome> | undefined;
    let wake = (): void => undefined;
    answer = async (batch) => {
      await new Promise<void>((resolve) => (wake = resolve));
      return (late = apply(batch));
    };
    expect(await sender.write(put('a', 'late'), 11)).toBe(NOT_WRITTEN);
    wake();
    while (!late) await turn();
    expect(await late).toEqual({ kind: 'refused' });
    expect(stored('a')).toBeUndefined();
    // Not at once: a process that is stopped would be asked again and again.
    expect(sender.takes(put('a'))).toBe(false);
  });

  test('says that it does not know what has become of a change, where the store has forgotten the sender', async () => {
    answer = async (batch) => {
      await apply(batch);
      await environment.writing((db) => void db.remove('\0sender/7'));
      await writer?.close();
      return { kind: 'refused' };
    };
    await expect(sender.write(put('a'), 11)).rejects.toThrow('it is not known whether the write took effect');
  });

  test('sends again after it was forgotten', async () => {
    await sender.write(put('a'), 11);
    await environment.writing((db) => void db.remove('\0sender/7'));
    expect(await sender.write(put('a'), 12)).toBe(NOT_WRITTEN);
    expect(await sender.write(put('a'), 13)).toBeNull();
  });

  test('is disconnected, and the writer goes on, if what it sends is no batch', async () => {
    for (const nonsense of [Buffer.from('GET / HTTP/1.1\r\n\r\n'), framed('nonsense'), Buffer.from([4, 0, 0, 0, 1, 2, 3, 4])]) {
      const stranger = connect(writerSocketIn(path));
      stranger.resume().write(nonsense);
      await once(stranger, 'close');
    }
    expect(await sender.write(put('a'), 11)).toBeNull();
  });

  test.each([
    ['cannot be read', (): Buffer => Buffer.from([5, 0, 0, 0, 1, 2, 3, 4, 5])],
    ['has no result for its change', (number: number): Buffer => framed({ number, outcome: { kind: 'applied', results: [] } })],
  ])('lives on, and writes itself, if the answer that it hears %s', async (_which, answerTo) => {
    await sender.close();
    await writer?.close();
    const stranger = createServer((socket) => {
      socket.write(framed({ number: 0, outcome: { kind: 'applied', results: [] } }));
      socket.on('data', () => socket.write(answerTo(1)));
    });
    await new Promise<void>((resolve) => stranger.listen(writerSocketIn(path), resolve));
    // The stranger has no lock, so the lock is held for it.
    const lock = new FileLock(join(path, 'writer-1.lock'));
    expect(lock.tryExclusively()).toBe(true);
    begin();
    await connected();
    expect(await sender.write(put('a'), 11)).toBe(NOT_WRITTEN);
    stranger.close();
    await sender.close();
    lock.close();
  });

  test('writes itself, and says so once, where no socket can be', async () => {
    const told: string[] = [];
    const log = {
      info: () => undefined,
      warn: (message: string, fields?: object) => void told.push(`${message}: ${JSON.stringify(fields)}`),
    };
    const deep = join(path, 'x'.repeat(100 - path.length));
    const far = await Environment.open(deep);
    const alone = new SharedTransactions(far, { sender: SENDER, apply: nobody, log });
    expect(alone.takes(put('a'))).toBe(false);
    expect(told).toEqual([expect.stringContaining('the path of the folder is longer than')]);
    await alone.close();
    await far.close();
    // Node.js 20 would have made one with another name.
    expect(readdirSync(path).filter((name) => name.startsWith('x'))).toEqual(['x'.repeat(100 - path.length)]);
    expect(readdirSync(deep).filter((name) => !name.endsWith('.mdb'))).toEqual([]);
  });

  test('writes itself, and says so once, where the lock cannot be made', async () => {
    const told: unknown[] = [];
    const log = { info: () => undefined, warn: (_message: string, fields?: object) => void told.push(fields) };
    const other = join(path, 'other');
    mkdirSync(join(other, 'writer-1.lock', 'in-its-place'), { recursive: true });
    const faulty = await Environment.open(other);
    const alone = new SharedTransactions(faulty, { sender: SENDER, apply: nobody, log, patienceMs: PATIENT });
    while (told.length === 0) await turn();
    expect(alone.takes(put('a'))).toBe(false);
    await alone.close();
    await faulty.close();
    expect(told).toEqual([expect.objectContaining({ path: other, reason: expect.stringContaining('writer-1.lock') })]);
  });

  test('becomes the writer when the one before it has gone', async () => {
    const applied: Batch[] = [];
    await sender.close();
    sender = new SharedTransactions(environment, { sender: SENDER, apply: async (batch) => (applied.push(batch), apply(batch)) });
    await connected();
    await writer?.close();
    writer = undefined;
    while (!existsSync(writerSocketIn(path))) {
      sender.takes(put('any'));
      await turn();
    }
    const other = new SharedTransactions(environment, { sender: SENDER + 1, apply: nobody, patienceMs: PATIENT });
    while (!other.takes(put('any'))) await turn();
    expect(await other.write(put('a'), 21)).toBeNull();
    expect(applied.map((batch) => batch.sender)).toEqual([SENDER + 1]);
    await other.close();
  });

  test('keeps large changes, and those that others are notified of, to itself', () => {
    expect(sender.takes(put('a', 'x'.repeat(2 ** 18)))).toBe(false);
    expect(sender.takes({ ...put('a'), notify: ['a'] })).toBe(false);
  });

  test('leaves nothing of its own in the store', async () => {
    await Promise.all([sender.write(put('a'), 11), sender.write(put('b'), 12)]);
    expect(ownKeys()).toEqual(['\0sender/7', '\0sender/7/0', '\0sender/7/1']);
    await sender.close();
    expect(ownKeys()).toEqual([]);
  });

  test('is cleared up after by the next writer, where it was killed', async () => {
    await environment.writing((db) => {
      void db.put('\0sender/5', Buffer.from('999999999-0123456789ab'), 3);
      void db.put('\0sender/5/0', Buffer.alloc(0), 4);
    });
    await sender.write(put('a'), 11);
    await writer?.close();
    writer = undefined;
    while (ownKeys().includes('\0sender/5')) {
      sender.takes(put('any'));
      await turn();
    }
    expect(ownKeys()).toEqual(['\0sender/7', '\0sender/7/0']);
  });

  test('finds a writer that comes later, and never becomes one where it may not', async () => {
    await writer?.close();
    writer = undefined;
    const other = new SharedTransactions(environment, { sender: SENDER + 1, apply: nobody, mayWrite: false, patienceMs: PATIENT });
    expect(other.takes(put('a'))).toBe(false);
    await sender.close();
    for (let turns = 0; turns < 100; turns += 1) {
      expect(other.takes(put('a'))).toBe(false);
      await turn();
    }
    writer = await WriterServer.begin(path, apply);
    expect(writer).toBeDefined();
    while (!other.takes(put('a'))) await turn();
    expect(await other.write(put('a'), 11)).toBeNull();
    expect(stored('a')).toBe('a');
    await other.close();
  });

  test('becomes the writer once there is none, also if it writes nothing itself', async () => {
    await sender.close();
    await writer?.close();
    writer = undefined;
    // A process that has begun to be the writer, and is stopped.
    const lock = new FileLock(join(path, 'writer-1.lock'));
    expect(lock.tryExclusively()).toBe(true);
    const waiting = new SharedTransactions(environment, { sender: SENDER + 1, apply, patienceMs: PATIENT });
    for (let turns = 0; turns < 100; turns += 1) await turn();
    expect(existsSync(writerSocketIn(path))).toBe(false);
    lock.close();
    while (!existsSync(writerSocketIn(path))) await turn();
    await waiting.close();
  });
});
