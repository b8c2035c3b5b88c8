import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const BUILDER = join(tmpdir(), `strongroom-pages-${createHash('sha256').update(at('ui')).digest('hex').slice(0, 16)}.pid`);

/** Builds the pages where nobody has, or where their sources changed since. Test files that run side by side wait for the one that builds. */
export function buildPages(): void {
  while (!isCurrent(at('ui/files.json'), at('web'))) {
    if (isBuilder()) return build();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  }
}

/** Whether the list, which a build writes last, is there and nothing below the folder is newer. A folder is newer where a file left it. */
export function isCurrent(list: string, folder: string): boolean {
  const built = statSync(list, { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return false;
  const paths = readdirSync(folder, { recursive: true }).map((path) => join(folder, String(path)));
  return [folder, ...paths].every((path) => statSync(path).mtimeMs <= built);
}

function build(): void {
  try {
    // The pages as they are shipped: the test runner's own NODE_ENV would make React's development build of them.
    const env = { ...process.env, NODE_ENV: 'production' };
    const built = spawnSync(process.execPath, [at('scripts/build.js')], { encoding: 'utf8', env });
    if (built.status !== 0) throw new Error(`the console cannot be built: ${built.stderr}`);
  } finally {
    rmSync(BUILDER);
  }
}

/** Whether this process is the one that builds. A builder that ended without a word is forgotten. */
function isBuilder(): boolean {
  try {
    writeFileSync(BUILDER, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isAlive(BUILDER)) rmSync(BUILDER, { force: true });
    return false;
  }
}

function isAlive(file: string): boolean {
  try {
    return process.kill(Number(readFileSync(file, 'utf8')), 0);
  } catch {
    return false;
  }
}
