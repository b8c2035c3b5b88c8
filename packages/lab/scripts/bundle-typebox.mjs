// TypeBox in few files, below .strongroom: jest loads the modules of each test file again, and two of five are TypeBox's.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cached } from './cache.mjs';

const installed = fileURLToPath(new URL('../../../node_modules/typebox', import.meta.url));
const { version, exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
const nameOf = (path) => (path === '.' ? 'index' : path.slice(2));

/** The file of every import that TypeBox offers, by what the import says. */
export async function bundleTypebox() {
  const folder = await cached(`typebox-${version}`, bundle);
  return new Map(Object.keys(exports).map((path) => [`typebox${path.slice(1)}`, join(folder, `${nameOf(path)}.js`)]));
}

async function bundle(folder) {
  const { rolldown } = await import('rolldown');
  const input = Object.fromEntries(Object.entries(exports).map(([path, entry]) => [nameOf(path), join(installed, entry.default)]));
  const built = await rolldown({ input, platform: 'node', logLevel: 'warn' });
  await built.write({ dir: folder, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' });
  await built.close();
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
}
