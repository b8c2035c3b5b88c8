// Which TypeScript an import of our own packages means, so that tests and the processes they start need no build. Plain JavaScript without dependencies.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The source file of every import that our packages offer, by what the import says: `dist/x.js` is made from `src/x.ts`. */
export function sources() {
  const found = new Map();
  for (const parent of ['packages', 'examples']) {
    for (const folder of readdirSync(join(root, parent)).map((name) => join(root, parent, name))) {
      if (!existsSync(join(folder, 'package.json'))) continue;
      const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      for (const [path, entry] of Object.entries(typeof exports === 'object' ? exports : {})) {
        const built = /^\.\/dist\/(.*)\.js$/.exec(entry.default ?? '')?.[1];
        if (built !== undefined) found.set(name + path.slice(1), join(folder, 'src', `${built}.ts`));
      }
    }
  }
  return found;
}
