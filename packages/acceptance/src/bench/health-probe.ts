import { request, Agent } from 'node:http';

/**
 * A process of its own, so that the bodies that are made and sent elsewhere do not slow it down: asks for `sys/health` again and again, and at each line
 * on its standard input writes the longest time that an answer has taken since the last one, in milliseconds.
 */
const [host = '127.0.0.1', port = '8200'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let longest = 0;
let asked = 0;

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const done = (): void => {
      longest = Math.max(longest, performance.now() - began);
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
  process.stdout.write(`${JSON.stringify({ longest, asked })}\n`);
  longest = 0;
  asked = 0;
});
process.stdin.on('end', () => process.exit(0));

for (;;) {
  await ask();
  await new Promise((resolve) => setTimeout(resolve, 1));
}
