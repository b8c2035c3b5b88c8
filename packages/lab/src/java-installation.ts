import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findProgram } from './find-program.ts';

const run = promisify(execFile);
const JAVA = 17;

/** A server that runs on Java, or why there is none. */
export type JavaInstallation = { readonly folder: string; readonly java: string } | { readonly missing: string };

/** Installs what `install-<name>.mjs` fetches from Maven Central, unless it is there. `title` is the server's name in the reason. */
export async function findOnJava(name: string, title: string): Promise<JavaInstallation> {
  const java = findProgram('java');
  const said = java === undefined ? '' : spawnSync(java, ['-version'], { encoding: 'utf8' }).stderr;
  if (java === undefined || !new RegExp(`version "${JAVA}\\.`).test(said))
    return { missing: `${title} needs Java ${JAVA}, which is not installed` };
  try {
    const { stdout } = await run(process.execPath, [fileURLToPath(new URL(`../scripts/install-${name}.mjs`, import.meta.url))]);
    return { folder: stdout.trim(), java };
  } catch (error) {
    return { missing: `${title} could not be fetched: ${String((error as { stderr?: string }).stderr ?? error).trim()}` };
  }
}
