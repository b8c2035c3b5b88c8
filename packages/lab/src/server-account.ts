import { execFileSync } from 'node:child_process';

/** For servers that refuse to run as root: the ids of another account, where the tests run as root. */
export function accountInPlaceOfRoot(name: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' })));
  return { uid: uid!, gid: gid! };
}
