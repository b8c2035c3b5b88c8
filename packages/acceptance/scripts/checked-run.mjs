// Runs a program of this package that is built first: for wrong arguments it says what would be right, and neither builds nor starts anything.
import '../../lab/scripts/typescript-loader.mjs';
import { runBuilt } from './setup.mjs';

const { orRefuse } = await import('../src/arguments.ts');

/** `read` reads the arguments, and throws WrongArgument. Ends the process with the program's exit code. */
export function checkedRun(program, read) {
  const words = process.argv.slice(2);
  orRefuse(() => read(words));
  runBuilt(`${program}/main.js`, words);
}
