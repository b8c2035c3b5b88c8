import { renameSync, rmSync } from 'node:fs';

/**
 * Puts the folder `made` into the place of `folder`, as a whole: it never holds files of two builds, and is absent for a moment. Several processes may do so at
 * once; the last one stays. Both folders have to be on one file system.
 */
export function replaceFolder(made, folder) {
  const former = [];
  do {
    former.push(`${made}-former-${former.length}`);
    rename(folder, former.at(-1), 'ENOENT');
    // Another process may have put its folder there meanwhile.
  } while (!rename(made, folder, 'ENOTEMPTY', 'EEXIST'));
  for (const one of former) rmSync(one, { recursive: true, force: true });
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
