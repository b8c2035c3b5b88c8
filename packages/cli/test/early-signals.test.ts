import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const LOADER = new URL('../../lab/scripts/typescript-loader.mjs', import.meta.url).href;
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** Sends the signals to its own process before the command line is loaded. */
const SENDER = `
import { register } from 'node:module';
const hooks = \`export async function resolve(specifier, context, next) {
  if (specifier.endsWith('/run-cli.ts')) for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGHUP']) process.kill(process.pid, signal);
  return next(specifier, context);
}\`;
register('data:text/javascript,' + encodeURIComponent(hooks));
`;

test('signals that come before the command line is loaded neither end a server nor open the debugger of Node', async () => {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const sender = `data:text/javascript,${encodeURIComponent(SENDER)}`;
  const child = spawn(process.execPath, ['--import', LOADER, '--import', sender, MAIN, 'server', '-no-such-flag'], { env });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (said += text));
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(said).toContain('-no-such-flag');
  expect(said).not.toContain('Debugger');
});
