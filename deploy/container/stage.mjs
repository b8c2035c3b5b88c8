// Copies what a server needs at run time into an empty folder: built packages, and a lockfile that `npm ci --omit=dev` accepts there.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** Folders of the packages that are shipped: the command line, the server, what it loads when it is installed, and what those depend on. */
export function shippedPackages() {
  const folderOf = (name) => name.replace('@strongroom/', '');
  const own = (names) => Object.keys(names ?? {}).filter((name) => name.startsWith('@strongroom/'));
  const found = new Set();
  const add = (name) => {
    if (found.has(name)) return;
    found.add(name);
    const { dependencies, peerDependencies } = read(join('packages', folderOf(name), 'package.json'));
    for (const next of [...own(dependencies), ...own(peerDependencies)]) add(next);
  };
  add('@strongroom/cli');
  return [...found].map((name) => join('packages', folderOf(name))).sort();
}

function stage(target) {
  const folders = shippedPackages();
  const manifest = read('package.json');
  const lock = read('package-lock.json');
  const kept = {
    name: manifest.name,
    private: true,
    license: manifest.license,
    type: 'module',
    workspaces: folders,
    overrides: manifest.overrides,
  };
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(kept, undefined, 2)}\n`);
  lock.packages[''] = { name: kept.name, license: kept.license, workspaces: folders };
  // Workspaces that stay behind leave the lockfile, with the links to them. Packages that nobody needs any more are left out by npm itself.
  const stays = (path, entry) =>
    (!/^(?:packages|examples)\//.test(path) || folders.some((folder) => path === folder || path.startsWith(`${folder}/`))) &&
    (entry.link !== true || folders.includes(entry.resolved));
  lock.packages = Object.fromEntries(Object.entries(lock.packages).filter(([path, entry]) => stays(path, entry)));
  for (const folder of folders) delete lock.packages[folder].devDependencies;
  writeFileSync(join(target, 'package-lock.json'), `${JSON.stringify(lock, undefined, 2)}\n`);
  for (const folder of folders) {
    mkdirSync(join(target, folder), { recursive: true });
    const { devDependencies: _left, ...own } = read(join(folder, 'package.json'));
    writeFileSync(join(target, folder, 'package.json'), `${JSON.stringify(own, undefined, 2)}\n`);
    for (const part of own.files.filter((file) => !file.startsWith('!'))) {
      if (existsSync(join(root, folder, part))) cpSync(join(root, folder, part), join(target, folder, part), { recursive: true });
    }
  }
}

const [, script, target] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  if (target === undefined) throw new Error('Name the folder to fill: node deploy/container/stage.mjs FOLDER');
  stage(target);
}
