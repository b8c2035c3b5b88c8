// Runs a program of this package that is built first: for wrong arguments it says what would be right, and neither builds nor starts anything.
import '../../lab/scripts/typescript-loader.mjs';
import { installPackages, runBuilt } from './setup.mjs';

// Reading the arguments takes what compiles TypeScript.
installPackages();
const { orRefuse, refuse } = await import('../src/arguments.ts');

/**
 * `read` reads the arguments, and throws WrongArgument; so does `check`, which gets what was read, where something that they name is not there. `install` gets what else the program
 * needs, and returns what could not be had, and why. Ends the process with the program's exit code.
 */
export async function checkedRun(program, read, { install = () => [], check = async () => undefined } = {}) {
  const words = process.argv.slice(2);
  const given = orRefuse(program, () => read(words));
  await check(given).catch((error) => refuse(program, error));
  for (const reason of install()) console.log(`not installed: ${reason}`);
  runBuilt(`${program}/main.js`, words);
}
