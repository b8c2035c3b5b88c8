// Where servers that no Debian package has are kept, and how they get there: once, whoever asks, and never half.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The project's folder for things that can be made again; git ignores it. */
export const cacheFolder =
  process.env.STRONGROOM_LAB_CACHE ?? join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '.strongroom');

const POLL_MS = 200;

/** How long downloading and building may take, also where a machine is busy with other work. Milliseconds. */
export const MAKING_MS = 15 * 60_000;

/**
 * The path `.strongroom/<name>`, made by `make(folder)` if it is not there: what `make` leaves in its empty folder appears under the name only
 * once `make` is done. Processes that ask at the same time wait for the one that makes it.
 */
export async function cached(name, make) {
  const path = join(cacheFolder, name);
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const lock = `${path}.lock`;
  while (!take(lock)) {
    await delay(POLL_MS);
    if (existsSync(path)) return path;
  }
  const scratch = mkdtempSync(`${path}.making-`);
  try {
    if (!existsSync(path)) {
      await make(scratch);
      chmodSync(scratch, 0o755);
      renameSync(scratch, path);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    rmSync(lock, { force: true });
  }
  return path;
}

/** Whether the lock is ours now. One whose process is gone is broken. */
function take(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  try {
    const holder = Number(readFileSync(lock, 'utf8'));
    if (holder > 0) process.kill(holder, 0);
  } catch (error) {
    if (error.code === 'ESRCH') rmSync(lock, { force: true });
  }
  return false;
}

/** For a script that may be run by itself: installs and prints the path, or the reason why not. Does nothing where the script is imported. */
export async function printInstalled(script, install) {
  if (!process.argv[1] || script !== pathToFileURL(process.argv[1]).href) return;
  try {
    console.log(await install());
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
