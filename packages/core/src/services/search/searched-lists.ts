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
  const lists = new Map<string, SearchedList>();
  for (const { pattern, operations } of mount.router?.paths ?? []) {
    if (operations.list?.searched !== true) continue;
    const [, fixed = '', tail] = /^([^{}]*)(\{\w+:(?:all|path)\})?$/.exec(pattern) ?? [undefined, '{'];
    if (fixed.includes('{')) continue;
    const below = fixed === '' || fixed.endsWith('/') ? fixed : `${fixed}/`;
    // The list of the uppermost folder may be declared on its own.
    lists.set(below, { mount, below, deep: tail !== undefined || lists.get(below)?.deep === true });
  }
  return [...lists.values()];
}
