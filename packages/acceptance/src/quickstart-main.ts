import { quickstart } from './quickstart.ts';

process.exitCode = await quickstart(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`\nThe quickstart failed: ${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
