// `npm run fuzz [-- seconds [seed]]`: installs what is missing, builds, and fuzzes the OpenAPI document of a server with every engine.
import { installPackages, installPython, runBuilt } from './setup.mjs';

installPackages();
for (const reason of installPython()) console.log(`not installed: ${reason}`);
runBuilt('fuzz/main.js', process.argv.slice(2));
