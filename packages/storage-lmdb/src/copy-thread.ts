import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { StoreCopy } from '@strongroom/storage-sdk';
import { asFailure } from './failure.ts';
import { MappedPages } from './mapped-pages.ts';

/** Bytes of a piece; an entry that is larger makes a larger one. A busy server gets to each piece late, so they are large. */
const PIECE = 2 ** 22;
/** Of the copy's file, in this process's resident memory. */
const RESIDENT = 16 * 2 ** 20;

/**
 * Opens a copy for reading, posts `[entries, bytes]`, and for each message one piece of at most so many bytes, or null at the end. Entries have the
 * format of storage-sdk's `encodeEntries`. The driver's own begin with a zero byte. Values are read where the file is mapped.
 */
const SCRIPT = `
const { parentPort, workerData: { lmdb, path, piece } } = require('node:worker_threads');
const { open } = require(lmdb);
let key = Buffer.alloc(2048), keyLength = 0, visit;
const db = open({
  path, noSubdir: false, readOnly: true, useVersions: true, noReadAhead: true,
  keyEncoder: {
    writeKey: (bytes, target, start) => { target.set(bytes, start); return start + bytes.length; },
    readKey: (source, start, end) => { keyLength = source.copy(key, 0, start, end); return key; },
  },
  encoder: { encode: (value) => value, decode: (bytes, length) => { visit(bytes, length); } },
});
const OWN_END = Buffer.from([1]);
let entries = 0, bytes = 0;
visit = (value, length) => { entries += 1; bytes += 8 + keyLength + length; };
for (const entry of db.getRange({ start: OWN_END })) void entry;
let out, at;
visit = (value, length) => {
  const size = 8 + keyLength + length;
  if (at + size > out.length) {
    const larger = Buffer.allocUnsafeSlow(at + size);
    out.copy(larger, 0, 0, at);
    out = larger;
  }
  at = out.writeUInt32BE(keyLength, at);
  at += key.copy(out, at, 0, keyLength);
  at = out.writeUInt32BE(length, at);
  // lmdb says another length of its buffer than it has.
  out.set(new Uint8Array(value.buffer, value.byteOffset, length), at);
  at += length;
};
const range = db.getRange({ start: OWN_END })[Symbol.iterator]();
let ended = false;
parentPort.on('message', (what) => {
  if (what === 'close') return void db.close().then(() => parentPort.close());
  out = Buffer.allocUnsafeSlow(piece + 65536);
  at = 0;
  while (!ended && at < piece) ended = range.next().done === true;
  if (at === 0) return parentPort.postMessage(null);
  const filled = new Uint8Array(out.buffer, 0, at);
  parentPort.postMessage(filled, [out.buffer]);
});
parentPort.postMessage([entries, bytes]);
`;

/** Reads the copy of a store in a thread of its own, so that requests are served meanwhile. */
export class CopyThread implements StoreCopy {
  entries = 0;
  bytes = 0;
  readonly #worker: Worker;
  readonly #pages: MappedPages;
  readonly #remove: () => Promise<void>;
  readonly #answers: unknown[] = [];
  #failed: Error | undefined;
  #waiting: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  private constructor(path: string, remove: () => Promise<void>) {
    this.#remove = remove;
    this.#pages = new MappedPages(`${path}/data.mdb`, RESIDENT);
    const workerData = { lmdb: createRequire(import.meta.url).resolve('lmdb'), path, piece: PIECE };
    this.#worker = new Worker(SCRIPT, { eval: true, workerData });
    this.#worker.on('message', (answer: unknown) => {
      this.#answers.push(answer);
      this.#waiting?.();
    });
    const failed = (error: Error): void => {
      this.#failed ??= error;
      this.#waiting?.();
    };
    this.#worker.on('error', failed).on('exit', () => failed(new Error('the reading of the copy was ended')));
  }

  /** `path`: the folder of a copy that nobody writes. `remove`: called once, when it is not needed any more. @throws StorageFailure */
  static async open(path: string, remove: () => Promise<void>): Promise<CopyThread> {
    const copy = new CopyThread(path, remove);
    try {
      [copy.entries, copy.bytes] = (await copy.#next()) as [number, number];
      return copy;
    } catch (error) {
      await copy.close();
      throw error;
    }
  }

  async *read(): AsyncGenerator<Uint8Array> {
    // One piece is made while the one before it is taken.
    this.#worker.postMessage('next');
    for (;;) {
      this.#worker.postMessage('next');
      const piece = (await this.#next()) as Uint8Array | null;
      if (piece === null) return;
      this.#pages.bound();
      yield piece;
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #next(): Promise<unknown> {
    while (this.#answers.length === 0) {
      if (this.#failed) throw asFailure(this.#failed);
      await new Promise<void>((resolve) => (this.#waiting = resolve));
    }
    return this.#answers.shift();
  }

  async #close(): Promise<void> {
    this.#pages.close();
    const ended = new Promise<void>((resolve) => void this.#worker.once('exit', () => resolve()));
    if (this.#worker.threadId !== -1) {
      this.#worker.postMessage('close');
      await ended;
    }
    await this.#remove();
  }
}
