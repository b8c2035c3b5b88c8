// A server in a process of its own: `child.ts <words of the server command>`.
import { runServer } from '../src/index.ts';

process.exitCode = await runServer(process.argv.slice(2));
