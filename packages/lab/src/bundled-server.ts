import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
let found: Promise<string> | undefined;

/**
 * A program that takes the words of `strongroom server`, `server` among them: the same sources in few files, which start in a third of the time.
 * For tests that start many servers; stack traces name the bundle's files in place of the
 * packages', and a plugin that is loaded from a file has packages of its own, so that its errors are no instances of the server's classes.
 */
export async function bundledServer(): Promise<string> {
  const script = fileURLToPath(new URL('../scripts/bundle-server.mjs', import.meta.url));
  const env = { ...process.env, NODE_OPTIONS: '' };
  return (found ??= run(process.execPath, [script], { env }).then(({ stdout }) => stdout.trim()));
}
