// Runs a program of this package that is built first: for wrong arguments it says what would be right, and neither builds nor starts anything.
import '../../lab/scripts/typescript-loader.mjs';
import { join } from 'node:path';
import { build, root, run } from './setup.mjs';

const { orRefuse } = await import('../src/arguments.ts');

/** `read` reads the arguments, and throws WrongArgument. Ends the process with the program's exit code. */
export function checkedRun(program, read) {
  const words = process.argv.slice(2);
  orRefuse(() => read(words));
  if (build() !== 0) process.exit(1);
  process.exit(run(process.execPath, [join(root, 'packages', 'acceptance', 'dist', program, 'main.js'), ...words]));
}
