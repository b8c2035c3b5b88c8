// A worker of a server: `worker-main <number> <start> <how many> <server> <words of the server command>`.
import { quietStart } from './quiet-start.ts';
import { ignoreUserSignals } from './early-signals.ts';

ignoreUserSignals();
const started = quietStart();
// To reload, a signal may go to the whole process group. What is not loaded yet reads everything again in any case.
process.on('SIGHUP', () => undefined);
// What node itself still sends to a supervisor that is gone. Node then ends this process.
process.on('error', () => undefined);
const { work } = await import('./work.ts');
process.exit(await work(process.argv.slice(2), started));
