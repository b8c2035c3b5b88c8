// The server in few files, below .strongroom: node loads them in a third of the time that it takes to find and read two thousand modules, which tells
// where tests start servers by the hundred. Prints the file to start. Made from the sources, again where one of them has changed.
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cached, cacheFolder, printInstalled } from './cache.mjs';
import { sources } from './sources.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const script = fileURLToPath(import.meta.url);
/** A bundle of older sources may still be run by tests of this long ago. */
const KEPT_MS = 3_600_000;
/** Looks for the workers beside the file that is run: in the bundle, there they are. */
const FINDS_WORKERS = join(root, 'packages', 'server', 'src', 'workers', 'worker-process.ts');
/** Bundled as our own packages are: it is a third of all modules. */
const BUNDLED = 'typebox';

/** What changes when a source, a dependency or this script does. */
function version() {
  const hash = createHash('sha256');
  const add = (file) => {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  };
  for (const file of [script, join(root, 'package-lock.json')]) add(file);
  const folders = new Set([...sources().values()].map((file) => file.slice(0, file.lastIndexOf('src') + 3)));
  for (const folder of folders) {
    for (const file of readdirSync(folder, { recursive: true }).map(String).sort()) if (file.endsWith('.ts')) add(join(folder, file));
  }
  return hash.digest('hex').slice(0, 16);
}

/** The file to start, with the word `server` and what follows it. */
export async function bundleServer() {
  const name = `server-${version()}`;
  const folder = await cached(name, async (scratch) => {
    removeOlder(name);
    await bundle(scratch);
  });
  return join(folder, 'main.js');
}

function removeOlder(name) {
  for (const other of readdirSync(cacheFolder)) {
    const folder = join(cacheFolder, other);
    const isOlder = /^server-[0-9a-f]{16}$/.test(other) && other !== name && Date.now() - statSync(folder).mtimeMs > KEPT_MS;
    if (isOlder) rmSync(folder, { recursive: true, force: true });
  }
}

async function bundle(folder) {
  const { rolldown } = await import('rolldown');
  const ours = sources();
  const built = await rolldown({
    input: {
      main: 'main',
      ...Object.fromEntries(['worker-main', 'writer-main'].map((name) => [name, join(root, 'packages', 'server', 'src', `${name}.ts`)])),
    },
    platform: 'node',
    resolve: { conditionNames: ['node', 'import', 'module-sync', 'default'], mainFields: ['main'] },
    logLevel: 'warn',
    plugins: [
      {
        name: 'sources',
        async resolveId(specifier, importer) {
          if (specifier === 'main') return 'main';
          const source = ours.get(specifier);
          if (source !== undefined) return source;
          if (/^(\.|\/|node:)/.test(specifier) || specifier.split('/')[0] === BUNDLED) return null;
          // From the folder of the importer: the bundle is elsewhere.
          const found = await this.resolve(specifier, importer, { skipSelf: true });
          return found && { id: found.id, external: found.id.startsWith('/') ? 'absolute' : true };
        },
        load: (id) =>
          id === 'main' ? `import { runServer } from '@strongroom/server';\nprocess.exit(await runServer(process.argv.slice(3)));\n` : null,
        transform: (code, id) =>
          id.startsWith(join(root, 'packages')) && id !== FINDS_WORKERS && code.includes('import.meta.url')
            ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
            : null,
      },
    ],
  });
  await built.write({ dir: folder, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' });
  await built.close();
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
}

await printInstalled(import.meta.url, bundleServer);
