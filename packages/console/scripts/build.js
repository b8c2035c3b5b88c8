// `npm run console`: builds the pages into ui/, compresses each file once, and lists them with their types and tags.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

const folder = resolve(import.meta.dirname, '..', 'ui');
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
};

await build({
  configFile: resolve(import.meta.dirname, '..', 'vite.config.js'),
  logLevel: process.argv.includes('--verbose') ? 'info' : 'warn',
});
const listed = {};
for (const path of readdirSync(folder, { recursive: true }).map(String).sort()) {
  const file = join(folder, path);
  if (!statSync(file).isFile()) continue;
  const type = TYPES[extname(path)];
  if (type === undefined) throw new Error(`${path}: no media type is known for ${extname(path)}`);
  const bytes = readFileSync(file);
  const gzip = gzipSync(bytes, { level: 9 });
  const compressed = gzip.length < bytes.length;
  if (compressed) {
    writeFileSync(`${file}.gz`, gzip);
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  }
  listed[path] = { type, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`, compressed };
}
writeFileSync(join(folder, 'files.json'), JSON.stringify(listed));
