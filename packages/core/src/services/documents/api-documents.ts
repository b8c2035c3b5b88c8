import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { openApiOf, type Place } from './openapi.ts';

const zipped = promisify(gzip);

/** An OpenAPI document as it is sent. */
export interface ApiDocument {
  /** With its quotes; of the plain text. */
  readonly etag: string;
  readonly plain: string;
  readonly gzip: Uint8Array;
}

/** Documents that are kept: callers with other policies see other mounts. */
const KEPT = 8;
/** Larger ones are made anew for every caller. Characters. */
const LARGEST = 4_000_000;

/** OpenAPI documents of the mounts that callers reach. The last ones are kept, since clients ask for the same again and again. */
export class ApiDocuments {
  /** By mounts and their paths; the last one asked for comes last. */
  readonly #kept = new Map<string, Promise<ApiDocument>>();
  readonly #ids = new WeakMap<object, number>();
  #lastId = 0;

  async of(places: readonly Place[]): Promise<ApiDocument> {
    const key = JSON.stringify(places.map(({ prefix, paths }) => [prefix, this.#idOf(paths)]));
    const made = this.#kept.get(key) ?? documentOf(places);
    this.#kept.delete(key);
    this.#kept.set(key, made);
    if (this.#kept.size > KEPT) this.#kept.delete([...this.#kept.keys()][0]!);
    try {
      const document = await made;
      if (document.plain.length > LARGEST && this.#kept.get(key) === made) this.#kept.delete(key);
      return document;
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    }
  }

  #idOf(paths: object): number {
    let id = this.#ids.get(paths);
    if (id === undefined) this.#ids.set(paths, (id = this.#lastId += 1));
    return id;
  }
}

async function documentOf(places: readonly Place[]): Promise<ApiDocument> {
  const plain = `${JSON.stringify(openApiOf(places))}\n`;
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 27);
  return { etag: `"${digest}"`, plain, gzip: await zipped(plain) };
}
