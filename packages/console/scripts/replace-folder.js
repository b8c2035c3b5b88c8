import { renameSync, rmSync } from 'node:fs';

/**
 * Puts the folder `made` into the place of `folder`, as a whole: whoever reads there finds all files of one build. Several processes may do so at once; the
 * last one stays. Both have to be on one file system.
 */
export function replaceFolder(made, folder) {
  const former = `${made}-former`;
  do {
    rename(folder, former, 'ENOENT');
    rmSync(former, { recursive: true, force: true });
    // Another process may have put its folder there meanwhile.
  } while (!rename(made, folder, 'ENOTEMPTY', 'EEXIST'));
}

/** @returns false where that is not possible for one of these reasons */
function rename(from, to, ...codes) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (codes.includes(error.code)) return false;
    throw error;
  }
}
