import type { PathMatch } from '../mounts/path-router.ts';

/** What a call is found to lead to, `rest` being the part of its path below the mount. */
export interface Found {
  readonly rest: string;
  readonly match: PathMatch | undefined;
}

/** The full paths of the other spellings of a call's path; undefined where there is only the one. */
export function otherSpellings(path: string, { rest, match }: Found): readonly string[] | undefined {
  const spell = match?.path.declaration.about.otherSpellings;
  if (!spell) return undefined;
  const mount = path.slice(0, path.length - rest.length);
  return spell(rest).map((other) => mount + other);
}
