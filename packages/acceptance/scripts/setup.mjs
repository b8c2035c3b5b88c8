// What a fresh clone needs before anything else can run: packages from the registry, and a build. Plain JavaScript without dependencies.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

/** Runs a command in the repository; its output goes through. Resolves with the exit code. */
export function run(command, args, options = {}) {
  const done = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (done.error) throw done.error;
  return done.status ?? 1;
}

/** Installs the packages of the lockfile where that has not been done. */
export function installPackages() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`Node ${process.versions.node} is too old: 20.19 or newer is needed.`);
    process.exit(1);
  }
  if (existsSync(join(root, 'node_modules', '.package-lock.json'))) return;
  console.log('Installing packages …');
  // Not `npm ci`: it refuses a lockfile that lacks the optional binaries of platforms other than the one it was written on.
  if (run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']) !== 0) process.exit(1);
}

export function build() {
  return run(process.execPath, [join('node_modules', 'ts7', 'bin', 'tsc'), '-b']);
}
