// `npm run docs:site`: builds the documentation's site from docs/ into docs/.vitepress/dist. VitePress fails on links that lead nowhere; this fails on
// pages that load anything from elsewhere.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './setup.mjs';

const built = join(root, 'docs', '.vitepress', 'dist');
/** What a browser loads by itself: not links that people follow. */
const LOADED = [
  /<(?:script|img|iframe|source)\b[^>]*\ssrc="([^"]+)"/g,
  /<link\b[^>]*\shref="([^"]+)"/g,
  /url\(["']?([^"')]+)/g,
  /@import\s+["']([^"']+)/g,
];

if (run(process.execPath, [join('packages', 'acceptance', 'dist', 'reference', 'document.js')]) !== 0) process.exit(1);
if (run(process.execPath, [join('node_modules', 'vitepress', 'bin', 'vitepress.js'), 'build', 'docs']) !== 0) process.exit(1);

const pages = readdirSync(built, { recursive: true })
  .map(String)
  .filter((file) => /\.(html|css)$/.test(file));
const foreign = pages.flatMap((page) => {
  const text = readFileSync(join(built, page), 'utf8');
  return LOADED.flatMap((pattern) => [...text.matchAll(pattern)])
    .map(([, address]) => address)
    .filter((address) => /^(?:[a-z]+:)?\/\//i.test(address))
    .map((address) => `${page} loads ${address}`);
});
for (const fault of foreign) console.log(fault);
console.log(`${pages.filter((page) => page.endsWith('.html')).length} pages, ${foreign.length} things loaded from elsewhere`);
process.exit(foreign.length === 0 && pages.length > 50 ? 0 : 1);
