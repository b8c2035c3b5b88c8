// `npm run console`: builds the pages, compresses each file once, lists them with their types and tags, and puts them into ui/.
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { replaceFolder } from './replace-folder.js';

const home = resolve(import.meta.dirname, '..');
/** Builds that run at once have a folder each. It is on the file system of ui/, and nobody takes it for sources. */
mkdirSync(join(home, 'node_modules'), { recursive: true });
const folder = mkdtempSync(join(home, 'node_modules', '.ui-'));
chmodSync(folder, 0o755);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
};

await build({
  configFile: join(home, 'vite.config.js'),
  build: { outDir: folder },
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
replaceFolder(folder, join(home, 'ui'));
