// `npm run consistency [-- --seconds=60] [--only=postgresql] [--faults=no]`: installs what is missing, builds, and checks what several servers on one store answer.
import { join } from 'node:path';
import { build, buildGoPrograms, installPackages, root, run } from './setup.mjs';

installPackages();
for (const reason of buildGoPrograms()) console.log(`not built: ${reason}`);
if (build() !== 0) process.exit(1);
process.exit(run(process.execPath, [join(root, 'packages', 'acceptance', 'dist', 'consistency', 'main.js'), ...process.argv.slice(2)]));
