import { narrator } from './console.ts';
import { walk } from './walk.ts';

/** `npm run quickstart`: the walk, printed step by step. `--once` ends the server afterwards. */
export async function quickstart(argv: readonly string[]): Promise<number> {
  const out = process.stdout;
  const began = Date.now();
  const walked = await walk(narrator(out));
  out.write(`\nDone in ${Math.round((Date.now() - began) / 1_000)} s: every step did what it should.\n`);
  if (argv.includes('--once')) {
    await walked.stop();
    return 0;
  }
  out.write(
    [
      '',
      'The server goes on, with the directory and PostgreSQL. In another terminal:',
      '',
      `  export STRONGROOM_ADDR=${walked.server.address}`,
      `  export STRONGROOM_TOKEN=${walked.rootToken}`,
      '  alias strongroom="node packages/cli/bin/strongroom.js"',
      '  strongroom status',
      '  strongroom secrets list',
      '  strongroom read db/prod/creds/readonly',
      '  strongroom path-help db/prod',
      '',
      'The console, in a browser:',
      '',
      `  ${walked.server.address}/ui/`,
      '  log in on the tab “corp” as ada with the password ada-password, or with the token above',
      '',
      'docs/getting-started.md goes on from here. Ctrl-C ends everything.',
      '',
    ].join('\n'),
  );
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await walked.stop();
  return 0;
}
