// A worker of a server: `worker-main <number> <start> <how many> <server> <words of the server command>`.
import { quietStart } from './quiet-start.ts';

const started = quietStart();
const { work } = await import('./work.ts');
process.exit(await work(process.argv.slice(2), started));
