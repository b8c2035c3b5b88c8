// Before anything else is loaded: what loading takes stays with the process.
if (process.argv[2] === 'server') {
  (await import('@strongroom/server/early-signals')).holdSignals();
  (await import('@strongroom/server/quiet-start')).quietStart();
}
const { runCli } = await import('./run-cli.ts');

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const code = await runCli(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  isTty: process.stdin.isTTY === true,
});

// Not left to the event loop: what a plugin still holds open, a timer or a socket, would keep the process alive for ever.
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))));
process.exit(code);
