import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { SnapshotMeta } from './snapshot-meta.ts';
import { TAR_END, tarHeader, tarPadding } from './tar.ts';

/** Without compression: records are encrypted and do not get smaller, and trying costs nearly twenty times the CPU time of all the rest. */
const LEVEL = 0;
/** Bytes that are handed on at a time. A busy server gets to each piece late, so they are large. */
const PIECE = 2 ** 22 + 2 ** 16;

/** What a snapshot is made of. */
export interface SnapshotParts {
  readonly meta: SnapshotMeta;
  /** `state.bin`: as many bytes as the meta data say. */
  readonly state: AsyncIterable<Uint8Array>;
  /** Encrypts the checksums, so that a server can see whether it has the keys of the snapshot. */
  readonly seal: (sums: Uint8Array) => Uint8Array;
}

/**
 * A snapshot as it comes about: gzip over a tar archive of `meta.json`, `state.bin`, `SHA256SUMS` and `SHA256SUMS.sealed`. The last is what clients look
 * for: without it a snapshot is not whole. Ends `state` when it is not read to the end.
 */
export async function* writeSnapshot(parts: SnapshotParts): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ level: LEVEL, chunkSize: PIECE });
  // Who reads gzip sees the failure.
  pipeline(Readable.from(archive(parts), { objectMode: true, highWaterMark: 1 }), gzip, () => undefined);
  for await (const piece of gzip) yield piece as Buffer;
}

async function* archive({ meta, state, seal }: SnapshotParts): AsyncGenerator<Uint8Array> {
  const modified = Math.floor(Date.parse(meta.CreatedAt) / 1_000);
  function* small(name: string, content: Uint8Array): Generator<Uint8Array> {
    yield tarHeader({ name, size: content.length }, modified);
    yield content;
    yield tarPadding(content.length);
  }
  const metaText = Buffer.from(`${JSON.stringify(meta, undefined, 2)}\n`);
  yield* filled(small('meta.json', metaText));
  const hash = createHash('sha256');
  yield tarHeader({ name: 'state.bin', size: meta.Size }, modified);
  let size = 0;
  for await (const piece of state) {
    size += piece.length;
    hash.update(piece);
    yield piece;
  }
  if (size !== meta.Size) throw new Error(`the state has ${size} bytes and not ${meta.Size}`);
  const sums = Buffer.from(`${createHash('sha256').update(metaText).digest('hex')}  meta.json\n${hash.digest('hex')}  state.bin\n`);
  yield* filled([tarPadding(size), ...small('SHA256SUMS', sums), ...small('SHA256SUMS.sealed', seal(sums)), TAR_END]);
}

/** Without what is empty, which would end a stream of objects early. */
function* filled(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const piece of pieces) if (piece.length > 0) yield piece;
}
