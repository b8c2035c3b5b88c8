// Compiles the sources of all packages and examples as one program, and puts what each of them has into its own dist/. `npm run build` begins with this.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root, run } from './setup.mjs';

/** Where the compiler writes: `outDir` of tsconfig.build.json. What has not changed stays there for the next time. */
const COMPILED = join(root, '.strongroom', 'build');
const TSC = join('node_modules', 'ts7', 'bin', 'tsc');

/** The folder of each package and example that has this file or folder. */
function having(path, parents = ['packages', 'examples']) {
  return parents
    .flatMap((parent) => readdirSync(join(root, parent)).map((name) => join(root, parent, name)))
    .filter((folder) => existsSync(join(folder, path)));
}

/** @returns the exit code of the compiler that failed, or 0 */
function compile() {
  removeStale();
  const compiled = run(process.execPath, [TSC, '-p', 'tsconfig.build.json']);
  if (compiled !== 0) return compiled;
  for (const folder of having('src')) install(folder);
  // Examples in JavaScript are checked with the types that we publish, as their authors would do it.
  return having('tsconfig.json', ['examples']).reduce((code, folder) => code || run(process.execPath, [TSC, '-p', folder]), 0);
}

/** What is the same stays untouched: a program that runs may read it. */
function install(folder) {
  const from = join(COMPILED, relative(root, folder), 'src');
  for (const source of readdirSync(join(folder, 'src'), { recursive: true }).map(String)) {
    if (!source.endsWith('.ts') || source.endsWith('.d.ts')) continue;
    for (const end of ['.js', '.d.ts']) {
      const file = source.replace(/\.ts$/, end);
      const made = readFileSync(join(from, file));
      const place = join(folder, 'dist', file);
      if (existsSync(place) && readFileSync(place).equals(made)) continue;
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, made);
    }
  }
}

/** Removes from every dist/ what no source makes any more: it would be published. */
function removeStale() {
  for (const folder of having('src')) {
    if (!existsSync(join(folder, 'dist'))) continue;
    for (const file of readdirSync(join(folder, 'dist'), { recursive: true }).map(String)) {
      const built = /^(.*?)\.(?:js|d\.ts)(\.map)?$/.exec(file);
      if (built && (built[2] || !existsSync(join(folder, 'src', `${built[1]}.ts`)))) rmSync(join(folder, 'dist', file));
    }
  }
}

process.exit(compile());
