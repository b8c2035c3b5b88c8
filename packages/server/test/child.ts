import { runServer } from '../src/index.ts';
process.exitCode = await runServer(process.argv.slice(2));
