import { createHash, type Hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gunzip } from 'node:zlib';
import { openApiText, type Place } from './openapi.ts';

const unzipped = promisify(gunzip);

/** An OpenAPI document as it is sent. */
export interface ApiDocument {
  /** With its quotes; of the plain text. */
  readonly etag: string;
  readonly gzip: Uint8Array;
  plain(): Promise<Uint8Array>;
}

/** Documents and what they are found by, together: callers with other policies see other mounts. Bytes, compressed. */
const KEPT = 8 * 2 ** 20;
/** The time for which a document that is being made keeps other work waiting. Milliseconds. */
const TURN = 5;

interface Kept {
  readonly made: Promise<ApiDocument>;
  /** 0 while it is being made. */
  bytes: number;
}

/** OpenAPI documents of the mounts that callers reach. The last ones are kept, since clients ask for the same again and again. */
export class ApiDocuments {
  readonly #most: number;
  /** By mounts and their paths; the last one asked for comes last. */
  readonly #kept = new Map<string, Kept>();
  readonly #ids = new WeakMap<object, number>();
  #lastId = 0;

  /** @param most bytes that are kept */
  constructor(most = KEPT) {
    this.#most = most;
  }

  /** Many mounts take several turns of the event loop. */
  async of(places: readonly Place[]): Promise<ApiDocument> {
    const key = JSON.stringify(places.map(({ prefix, paths }) => [prefix, this.#idOf(paths)]));
    const kept = this.#kept.get(key) ?? { made: documentOf(places), bytes: 0 };
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    try {
      const document = await kept.made;
      kept.bytes = key.length + document.gzip.byteLength;
      this.#letGo();
      return document;
    } catch (error) {
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
      throw error;
    }
  }

  /** The ones that nobody has asked for longest go first. */
  #letGo(): void {
    let total = 0;
    for (const { bytes } of this.#kept.values()) total += bytes;
    for (const [key, { bytes }] of this.#kept) {
      if (total <= this.#most) return;
      if (bytes > 0) this.#kept.delete(key);
      total -= bytes;
    }
  }

  #idOf(paths: object): number {
    let id = this.#ids.get(paths);
    if (id === undefined) this.#ids.set(paths, (id = this.#lastId += 1));
    return id;
  }
}

async function documentOf(places: readonly Place[]): Promise<ApiDocument> {
  const hash = createHash('sha256');
  const text = Readable.from(inTurns(openApiText(places), hash), { objectMode: false });
  const gzip = await pipeline(text, createGzip(), buffer);
  const digest = hash.digest('base64url').slice(0, 27);
  return { etag: `"${digest}"`, gzip, plain: async () => unzipped(gzip) };
}

/** The pieces together, as many as are made in a turn. They are also hashed. */
async function* inTurns(pieces: Iterable<string>, hash: Hash): AsyncGenerator<Uint8Array> {
  let began = performance.now();
  let turn: string[] = [];
  const together = (): Uint8Array => {
    const bytes = Buffer.from(turn.join(''));
    hash.update(bytes);
    turn = [];
    return bytes;
  };
  for (const piece of pieces) {
    turn.push(piece);
    if (performance.now() - began < TURN) continue;
    yield together();
    await setImmediate();
    began = performance.now();
  }
  turn.push('\n');
  yield together();
}
