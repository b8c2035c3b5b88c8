import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A folder of another Debian suite: `run <program>` starts a program in it with its own libraries. */
export type Unpacked = { readonly folder: string } | { readonly missing: string };

async function unpacked(name: 'mysql' | 'valkey'): Promise<Unpacked> {
  try {
    const script = fileURLToPath(new URL(`../scripts/install-${name}.mjs`, import.meta.url));
    const { stdout } = await run(process.execPath, [script]);
    return { folder: stdout.trim() };
  } catch (error) {
    return { missing: `${name} could not be unpacked: ${String((error as { stderr?: string }).stderr || error).trim()}` };
  }
}

/** MySQL of Debian unstable, unpacked the first time, which takes a quarter of a minute; or why there is none. */
export async function findMysql(): Promise<Unpacked> {
  return unpacked('mysql');
}

/** Valkey of Debian trixie, unpacked the first time; or why there is none. */
export async function findValkey(): Promise<Unpacked> {
  return unpacked('valkey');
}
