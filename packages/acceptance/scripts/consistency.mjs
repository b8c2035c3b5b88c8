// `npm run consistency [-- --seconds=60] [--only=postgresql] [--faults=no]`: installs what is missing, builds, and checks what several servers on one store answer.
import { buildGoPrograms, installPackages, runBuilt } from './setup.mjs';

installPackages();
for (const reason of buildGoPrograms()) console.log(`not built: ${reason}`);
runBuilt('consistency/main.js', process.argv.slice(2));
