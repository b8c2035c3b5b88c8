// `npm run build` begins with this. Plain JavaScript without dependencies.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './setup.mjs';

/** Removes from every package's dist/ what no source makes any more: tsc leaves such files where they are, and they would be published. */
export function removeStale() {
  for (const parent of ['packages', 'examples']) {
    for (const name of readdirSync(join(root, parent))) {
      const folder = join(root, parent, name);
      if (!existsSync(join(folder, 'dist')) || !existsSync(join(folder, 'src'))) continue;
      for (const file of readdirSync(join(folder, 'dist'), { recursive: true }).map(String)) {
        const built = /^(.*?)\.(?:js|d\.ts)(\.map)?$/.exec(file);
        if (built && (built[2] || !existsSync(join(folder, 'src', `${built[1]}.ts`)))) rmSync(join(folder, 'dist', file));
      }
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) removeStale();
