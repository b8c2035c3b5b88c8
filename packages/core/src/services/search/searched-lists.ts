import type { Mount } from '../../kernel/mounts/mount.ts';

/** A list that searches walk. */
export interface SearchedList {
  readonly mount: Mount;
  /** Below the mount: '' or with a closing slash. */
  readonly below: string;
  /** Its names may be folders, at any depth. */
  readonly deep: boolean;
}

/** The lists of a mount that its engine declares as searched. Lists below a name, such as those of one role, are not among them. */
export function searchedLists(mount: Mount): SearchedList[] {
  const lists: SearchedList[] = [];
  for (const { pattern, operations } of mount.router?.paths ?? []) {
    if (operations.list?.searched !== true) continue;
    const [, fixed = '', tail] = /^([^{}]*)(\{\w+:all\})?$/.exec(pattern) ?? [undefined, '{'];
    if (fixed.includes('{')) continue;
    lists.push({ mount, below: fixed === '' || fixed.endsWith('/') ? fixed : `${fixed}/`, deep: tail !== undefined });
  }
  return lists;
}
