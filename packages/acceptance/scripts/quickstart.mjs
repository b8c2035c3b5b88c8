import { join } from 'node:path';
import { build, installPackages, root, run } from './setup.mjs';

installPackages();
console.log('Building …');
if (build() !== 0) process.exit(1);
process.exit(run(process.execPath, [join(root, 'packages', 'acceptance', 'dist', 'quickstart-main.js'), ...process.argv.slice(2)]));
