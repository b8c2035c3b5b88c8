// Go, for servers that are built from their modules.
import { spawnSync } from 'node:child_process';
import { MAKING_MS } from './cache.mjs';

/** What `go` printed. Throws with the reason if it fails. */
export function go(words, cwd, timeout = MAKING_MS) {
  const env = { ...process.env, GOWORK: 'off', GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' };
  const { status, error, stdout, stderr } = spawnSync('go', words, { cwd, env, encoding: 'utf8', maxBuffer: 1 << 26, timeout });
  if (error) throw new Error(error.code === 'ENOENT' ? 'go is not installed' : error.message);
  if (status !== 0) throw new Error(`go ${words[0]} ended with ${status}: ${(stdout + stderr).slice(-2000)}`);
  return stdout;
}

/**
 * Builds the package `main` of the module in `folder` as `program`. All programs with the same flags, so that Go compiles its own packages once;
 * without what only debuggers read. `variables` are for the linker: `-X package.name=value`.
 */
export function buildGo(program, folder, { main = '.', tags = '', variables = '', timeout } = {}) {
  go(['build', '-trimpath', '-tags', tags, '-ldflags', `-s -w ${variables}`, '-o', program, main], folder, timeout);
}
