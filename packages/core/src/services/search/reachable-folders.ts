import { byBytes } from '../../kernel/storage/store.ts';
import type { Acl } from '../policies/acl.ts';

/**
 * Folders that the rules of a caller name and let them list, in byte order. For those who may not list the folder above. A rule on a path that begins with
 * `x/te*` is taken for the folder `x/te/` too; what a `+` stands for is not known.
 */
export function reachableFolders(acl: Acl): string[] {
  const resultant = acl.resultant();
  if (resultant.root) return [];
  const folders = new Set<string>();
  for (const rules of [resultant.exact_paths, resultant.glob_paths]) {
    for (const [path, { capabilities }] of Object.entries(rules)) {
      if (capabilities.includes('list') && path !== '' && !path.includes('+')) folders.add(path.endsWith('/') ? path : `${path}/`);
    }
  }
  return [...folders].sort(byBytes);
}
