// `npm run fuzz [-- seconds [seed]]`: installs what is missing, builds, and fuzzes the OpenAPI document of a server with every engine.
import { join } from 'node:path';
import { build, installPackages, installPython, root, run } from './setup.mjs';

installPackages();
for (const reason of installPython()) console.log(`not installed: ${reason}`);
if (build() !== 0) process.exit(1);
process.exit(run(process.execPath, [join(root, 'packages', 'acceptance', 'dist', 'fuzz', 'main.js'), ...process.argv.slice(2)]));
