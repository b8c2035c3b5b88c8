import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { readSnapshot, SnapshotFault, writeSnapshot, type SnapshotMeta } from '../src/index.ts';

const STATE = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 31) & 255));

function metaOf(size: number): SnapshotMeta {
  return {
    ...{ Version: 1, ID: 'strongroom-1', Index: 7, Term: 2, Size: size, Format: 'strongroom-1', Entries: 3, Storage: 'lmdb' },
    ...{ ServerVersion: '0.2.0', ClusterID: 'c', ClusterName: 'n', CreatedAt: '2026-11-22T12:00:00.000Z' },
  };
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}

const made = async (state: Buffer = STATE): Promise<Buffer> =>
  all(writeSnapshot({ meta: metaOf(state.length), state: inPieces(state, 4_999), seal: (sums) => Buffer.from(sums).reverse() }));

describe('the file of a snapshot', () => {
  test.each([0, 1, 511, 512, 513, 300_000])('with %i bytes is read back in whatever pieces it comes', async (size) => {
    const file = await made(STATE.subarray(0, size));
    for (const piece of [1_024, 7, file.length]) {
      let state: Buffer | undefined;
      const read = await readSnapshot(inPieces(file, piece), { state: async (given) => void (state = await all(given)) });
      expect(state?.equals(STATE.subarray(0, size))).toBe(true);
      expect(read.meta).toEqual(metaOf(size));
      expect(Buffer.from(read.sealed).reverse().equals(read.sums)).toBe(true);
    }
  });

  test('is what tar and sha256sum read, with the sealed checksums last', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'strongroom-snapshot-'));
    try {
      writeFileSync(join(folder, 'file'), await made());
      const names = execFileSync('tar', ['-tzf', 'file'], { cwd: folder }).toString().trim().split('\n');
      expect(names).toEqual(['meta.json', 'state.bin', 'SHA256SUMS', 'SHA256SUMS.sealed']);
      execFileSync('tar', ['-xzf', 'file'], { cwd: folder });
      expect(execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: folder }).toString()).toBe('meta.json: OK\nstate.bin: OK\n');
      expect(readFileSync(join(folder, 'state.bin')).equals(STATE)).toBe(true);
      expect(readdirSync(folder)).toHaveLength(5);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('is also read when the reader leaves the state alone, or part of it', async () => {
    const file = await made();
    await readSnapshot(inPieces(file, 1_000));
    await readSnapshot(inPieces(file, 1_000), {
      state: async (state) => {
        for await (const piece of state) if (piece.length > 0) break;
      },
    });
  });

  test('cut off anywhere is refused', async () => {
    const file = await made();
    for (let length = 0; length < file.length; length += Math.ceil(file.length / 60)) {
      await expect(readSnapshot(inPieces(file.subarray(0, length), 3_000))).rejects.toThrow(SnapshotFault);
    }
    await expect(readSnapshot(inPieces(file.subarray(0, file.length - 1), 3_000))).rejects.toThrow(SnapshotFault);
  });

  test('with one byte changed anywhere in the archive is refused', async () => {
    const plain = gunzipSync(await made(STATE.subarray(0, 3_000)));
    for (let at = 0; at < plain.length; at += 97) {
      const damaged = Buffer.from(plain);
      damaged[at]! ^= 1;
      const outcome = await readSnapshot(inPieces(gzipSync(damaged), 3_000)).then(
        ({ sealed, sums }) => (Buffer.from(sealed).reverse().equals(sums) ? 'whole' : 'not sealed'),
        (error: unknown) => (error instanceof SnapshotFault ? 'refused' : String(error)),
      );
      // Owner, mode, padding and the like say nothing; the sealed sums are for a server to open.
      expect(['refused', 'not sealed', ...(isMeaningless(plain, at) ? ['whole'] : [])]).toContain(outcome);
    }
  });

  test('tells what is none, and whose another is', async () => {
    const refusal = async (bytes: Buffer): Promise<string> =>
      readSnapshot(inPieces(bytes, 1_000)).then(
        () => 'read',
        (error: Error) => error.message,
      );
    expect(await refusal(Buffer.from('{}'))).toBe('failed to decompress snapshot: unexpected EOF');
    expect(await refusal(Buffer.alloc(0))).toBe('failed to decompress snapshot: unexpected EOF');
    expect(await refusal(Buffer.from('a text that is long enough for a head'))).toMatch(/^failed to decompress snapshot: gzip: /);
    expect(await refusal(gzipSync(Buffer.alloc(2_000)))).toBe('failed to read snapshot: meta.json is missing');
    expect(await refusal(gzipSync(STATE))).toMatch(/no tar archive/);
    expect(await refusal(Buffer.concat([await made(), await made()]))).toMatch(/something follows its end/);
  });

  test('ends the state when nobody reads on, and passes on why it failed', async () => {
    let ended = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield STATE;
      } finally {
        ended = true;
      }
    }
    for await (const piece of writeSnapshot({ meta: metaOf(2 ** 40), state: endless(), seal: (sums) => sums })) if (piece.length > 0) break;
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBe(true);
    // eslint-disable-next-line require-yield
    async function* failing(): AsyncGenerator<Uint8Array> {
      throw new Error('the disk');
    }
    await expect(all(writeSnapshot({ meta: metaOf(5), state: failing(), seal: (sums) => sums }))).rejects.toThrow('the disk');
    await expect(readSnapshot(failing())).rejects.toThrow('the disk');
  });
});

/** Whether a byte of an archive decides nothing: it is padding, or in the trailing blocks. */
function isMeaningless(plain: Buffer, at: number): boolean {
  const flipped = Buffer.from(plain);
  flipped[at]! ^= 1;
  let position = 0;
  while (position + 512 <= plain.length && plain[position] !== 0) {
    const size = Number.parseInt(plain.toString('latin1', position + 124, position + 136), 8);
    const end = position + 512 + size;
    const next = Math.ceil(end / 512) * 512;
    if (at >= end && at < next) return true;
    position = next;
  }
  return false;
}
