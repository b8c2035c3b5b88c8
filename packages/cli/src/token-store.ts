import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './environment.ts';
import { settingSource } from './environment.ts';

/** Where a login is kept between commands: the file that other clients of this API read as well. */
export function tokenFile(env: Environment): string {
  return join(env['HOME'] ?? homedir(), '.vault-token');
}

/** The token to send: from the environment, else from the file; undefined when there is none. */
export function findToken(env: Environment): string | undefined {
  const found = settingSource(env, 'TOKEN');
  if (found !== undefined) return found.value.trim();
  try {
    const stored = readFileSync(tokenFile(env), 'utf8').trim();
    return stored === '' ? undefined : stored;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces the stored token in one step; the file is readable by its owner only. */
export async function storeToken(env: Environment, token: string): Promise<void> {
  const file = tokenFile(env);
  const fresh = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(fresh, token, { mode: 0o600, flag: 'wx' });
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
