// The newest long-term version of Node, beside the oldest that is supported and runs everything else.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

/** Raise it in the month in which the next one becomes long-term: every October, until then the even number of the spring before. */
export const NEWEST_LTS = 26;

/**
 * Installs its binary from the registry, which has one package a platform, into `.strongroom/`.
 * @returns the path of the binary and its version; or why there is none
 */
export function installNewestNode() {
  const folder = join(root, '.strongroom', `node-${NEWEST_LTS}`);
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const node = join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true });
    const words = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    spawnSync('npm', [...words, `${name}@${NEWEST_LTS}`], { cwd: folder, stdio: 'ignore', shell: process.platform === 'win32' });
  }
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return status === 0 ? { node, version: stdout.trim().slice(1) } : { missing: `${name}@${NEWEST_LTS} could not be installed` };
}
