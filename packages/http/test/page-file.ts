import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { PageFile } from '../src/index.ts';

/** A file as a console's build makes it. */
export function pageFile(type: string, text: string): Required<PageFile> {
  const identity = Buffer.from(text);
  const digest = createHash('sha256').update(identity).digest('base64url');
  return { type, etag: `"${digest}"`, identity, gzip: gzipSync(identity), brotli: brotliCompressSync(identity) };
}
