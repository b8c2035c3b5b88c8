import { closest } from '@strongroom/engine-sdk/closest';
import { ImportStopped } from './failures.ts';

/** What `kind=` may name, in the order of the import. */
export const GROUPS = ['mounts', 'password-policies', 'policies', 'token-roles', 'kv', 'engines', 'auth', 'identity', 'system'] as const;
export type Group = (typeof GROUPS)[number];

/** What of the source is imported: paths and kinds. Nothing included means everything, and an exclusion wins. */
export class Selection {
  readonly #include: readonly string[];
  readonly #exclude: readonly string[];

  /** @throws ImportStopped for a kind that there is not */
  constructor(include: readonly string[], exclude: readonly string[]) {
    this.#include = include.map(checked);
    this.#exclude = exclude.map(checked);
  }

  /** Whether the thing is imported. A mount is if anything below it may be. */
  takes(group: Group, path: string): boolean {
    if (this.#exclude.some((choice) => matches(choice, group, path))) return false;
    return this.#include.length === 0 || this.#include.some((choice) => matches(choice, group, path) || isAbove(group, path, choice));
  }

  /** Whether anything of the group below the folder may be taken, so that it is worth reading. */
  mayTake(group: Group, folder: string): boolean {
    if (this.#exclude.some((choice) => matches(choice, group, folder))) return false;
    return this.#include.length === 0 || this.#include.some((choice) => matches(choice, group, folder) || choice.startsWith(folder));
  }
}

function checked(choice: string): string {
  if (!choice.startsWith('kind=')) return choice.replace(/^\/+/, '');
  const kind = choice.slice('kind='.length);
  if ((GROUPS as readonly string[]).includes(kind)) return choice;
  const near = closest(kind, GROUPS);
  throw new ImportStopped(`There is no kind "${kind}"${near ? `; did you mean "${near}"?` : '.'} Kinds: ${GROUPS.join(', ')}`);
}

function matches(choice: string, group: Group, path: string): boolean {
  return choice.startsWith('kind=')
    ? choice === `kind=${group}`
    : path === choice || path.startsWith(choice.endsWith('/') ? choice : `${choice}/`);
}

/** A mount is needed for what is below it, also where a kind is chosen. */
function isAbove(group: Group, path: string, choice: string): boolean {
  return group === 'mounts' && choice.startsWith(path);
}
