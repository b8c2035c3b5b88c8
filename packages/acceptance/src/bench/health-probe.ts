import { request, Agent } from 'node:http';
import { mainThreadMillis } from './process-usage.ts';

/**
 * A process of its own, so that the bodies that are made and sent elsewhere do not slow it down: asks for `sys/health` again and again, and at each line
 * on its standard input writes the longest time that an answer has taken since the last one, and the most of it that the server's main thread was at
 * work, both in milliseconds. The second is what the server is to blame for where other programs share the machine.
 */
const [host = '127.0.0.1', port = '8200', pid = '0'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let longest = 0;
let busiest = 0;
let asked = 0;

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const worked = mainThreadMillis(Number(pid));
    const done = (): void => {
      longest = Math.max(longest, performance.now() - began);
      busiest = Math.max(busiest, mainThreadMillis(Number(pid)) - worked);
      asked += 1;
      resolve();
    };
    request({ host, port, agent, path: '/v1/sys/health' }, (response) => {
      response.on('end', done);
      response.resume();
    })
      .on('error', reject)
      .end();
  });
}

process.stdin.on('data', () => {
  process.stdout.write(`${JSON.stringify({ longest, busiest, asked })}\n`);
  longest = 0;
  busiest = 0;
  asked = 0;
});
process.stdin.on('end', () => process.exit(0));

for (;;) {
  await ask();
  await new Promise((resolve) => setTimeout(resolve, 1));
}
