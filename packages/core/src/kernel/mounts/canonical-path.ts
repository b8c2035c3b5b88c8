import type { PathMatch, PathFolds } from './path-router.ts';
import type { Mount } from './mount.ts';

/** Finds the mount of a path. */
export interface MountFinder {
  /** `rest` is the path below the mount. Undefined where no mount is. */
  route(path: string): { readonly mount: Mount; readonly rest: string } | undefined;
}

/** Where a path leads, in canonical form. */
export interface CanonicalPath {
  /** From the root. That of a list or scan ends in a slash, no other does. */
  readonly path: string;
  /** How `path` folds; absent where nothing of it does. */
  readonly folds?: PathFolds;
  readonly mount: Mount;
  /** Below the mount. */
  readonly rest: string;
  readonly match: PathMatch | undefined;
}

/**
 * The canonical form of an admitted path, by the declaration of what it leads to. Undefined where no mount is: then the path is
 * already all there is to say. @throws BadRequest for a variant that folds into no path
 */
export function canonicalPath(mounts: MountFinder, path: string): CanonicalPath | undefined {
  const found = mounts.route(path);
  if (!found) return undefined;
  const { mount, rest } = found;
  const match = mount.router?.match(rest);
  if (!match) return { path, mount, rest, match };
  const slash = path.endsWith('/') ? '/' : '';
  const below = match.canonical === '' ? '' : match.canonical + slash;
  const bare = rest.endsWith('/') ? rest.slice(0, -1) : rest;
  const full = match.canonical === bare ? path : mount.path + below;
  return { path: full, mount, rest: below, match, ...(match.folds ? { folds: fromTheRoot(mount, match.folds) } : {}) };
}

function fromTheRoot(mount: Mount, { segments, tail }: PathFolds): PathFolds {
  const above = mount.path.split('/').length - 1;
  return {
    segments: [...new Array<undefined>(above), ...segments],
    ...(tail ? { tail: { ...tail, from: tail.from + above } } : {}),
  };
}
