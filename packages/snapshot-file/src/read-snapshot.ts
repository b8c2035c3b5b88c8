import { createHash, timingSafeEqual } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ByteSource } from './byte-source.ts';
import { SnapshotFault } from './snapshot-fault.ts';
import { readMeta, type SnapshotMeta } from './snapshot-meta.ts';
import { readTarHeader, tarPadding } from './tar.ts';

const BLOCK = 512;
/** Bytes that the small files of a snapshot may have. */
const SMALL = 64 * 1024;
const PIECE = 256 * 1024;

/** What is done with a snapshot while it is read. */
export interface SnapshotReader {
  /** Told first. What it throws ends the reading. */
  readonly meta?: (meta: SnapshotMeta) => void | Promise<void>;
  /** Takes `state.bin`, of which nothing is checked yet. What it leaves is skipped, and counts for the checksum. */
  readonly state?: (state: AsyncIterable<Uint8Array>) => Promise<void>;
}

/** A snapshot that was read to its end, and whose checksums are right. */
export interface ReadSnapshot {
  readonly meta: SnapshotMeta;
  /** `SHA256SUMS`. */
  readonly sums: Buffer;
  /** `SHA256SUMS.sealed`: the same, encrypted by the server that took the snapshot. */
  readonly sealed: Buffer;
}

/** Reads a snapshot and checks it whole, within bounded memory. @throws SnapshotFault for what is none; what `source` and the reader throw */
export async function readSnapshot(source: AsyncIterable<Uint8Array>, reader: SnapshotReader = {}): Promise<ReadSnapshot> {
  const bytes = new ByteSource(unpacked(source));
  const metaText = await smallFile(bytes, 'meta.json');
  const meta = readMeta(metaText.toString());
  await reader.meta?.(meta);
  const size = await fileHeader(bytes, 'state.bin');
  if (size !== meta.Size) throw new SnapshotFault(`failed to read snapshot: state.bin has ${size} bytes, and meta.json says ${meta.Size}`);
  const hash = createHash('sha256');
  const hashed = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes.pieces(size)) {
      hash.update(piece);
      yield piece;
    }
  };
  const state = hashed();
  // Whoever stops in the middle must not end the source.
  await reader.state?.({ [Symbol.asyncIterator]: () => ({ next: async () => state.next() }) });
  for await (const piece of state) void piece;
  await bytes.take(tarPadding(size).length);
  const sums = await smallFile(bytes, 'SHA256SUMS');
  const sealed = await smallFile(bytes, 'SHA256SUMS.sealed');
  if (sealed.length === 0) throw new SnapshotFault('failed to read snapshot: SHA256SUMS.sealed is empty');
  if (readTarHeader(await bytes.take(BLOCK)) !== undefined)
    throw new SnapshotFault('failed to read snapshot: it has more files than it should');
  await bytes.end();
  check(sums, 'meta.json', createHash('sha256').update(metaText).digest());
  check(sums, 'state.bin', hash.digest());
  return { meta, sums, sealed };
}

function check(sums: Buffer, name: string, digest: Buffer): void {
  const line = sums
    .toString()
    .split('\n')
    .find((each) => each.endsWith(`  ${name}`));
  const expected = Buffer.from(line?.slice(0, 64) ?? '', 'hex');
  if (expected.length !== digest.length || !timingSafeEqual(expected, digest)) {
    throw new SnapshotFault(`failed to read snapshot: the checksum of ${name} is wrong, so it is damaged`);
  }
}

async function smallFile(bytes: ByteSource, name: string): Promise<Buffer> {
  const size = await fileHeader(bytes, name);
  if (size > SMALL) throw new SnapshotFault(`failed to read snapshot: ${name} is too large`);
  const content = await bytes.take(size);
  await bytes.take(tarPadding(size).length);
  return content;
}

/** The size of the file that comes next. */
async function fileHeader(bytes: ByteSource, name: string): Promise<number> {
  const entry = readTarHeader(await bytes.take(BLOCK));
  if (typeof entry === 'string') throw new SnapshotFault(`failed to read snapshot: ${entry}`);
  if (entry?.name !== name) throw new SnapshotFault(`failed to read snapshot: ${name} is missing`);
  return entry.size;
}

/** @throws SnapshotFault for what gzip did not make; what the source throws */
async function* unpacked(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let failed: { readonly error: unknown } | undefined;
  let seen = 0;
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of source) {
        seen += piece.length;
        if (piece.length > 0) yield piece;
      }
    } catch (error) {
      failed = { error };
      throw error;
    }
  };
  const gunzip = createGunzip({ chunkSize: PIECE });
  pipeline(Readable.from(watched(), { objectMode: true, highWaterMark: 1 }), gunzip, () => undefined);
  let made = 0;
  try {
    for await (const piece of gunzip) {
      made += (piece as Buffer).length;
      yield piece as Buffer;
    }
  } catch (error) {
    if (failed) throw failed.error;
    const { code } = error as { code?: string };
    if (code === 'Z_BUF_ERROR' || (code?.startsWith('Z_') && seen < 10))
      throw new SnapshotFault('failed to decompress snapshot: unexpected EOF');
    if (code?.startsWith('Z_')) throw new SnapshotFault(`failed to decompress snapshot: gzip: ${(error as Error).message}`);
    throw error;
  }
  if (made === 0) throw new SnapshotFault('failed to decompress snapshot: unexpected EOF');
}
