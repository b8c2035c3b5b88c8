import type { SegmentFolds } from '../mounts/path-router.ts';

/** The path of a policy's block, after templates: what it matches, and what decides between two that match the same path. */
export interface PathPattern {
  /** As written, without a leading slash. */
  readonly text: string;
  /**
   * `exact`: this path alone. `prefix`: every path that begins with `stem`. `segments`: `+` stands for one segment each, and with
   * `glob` the last segment is only a beginning.
   */
  readonly kind: 'exact' | 'prefix' | 'segments';
  /** The text without a closing `*`. */
  readonly stem: string;
  readonly glob: boolean;
  /** Segments of the stem. */
  readonly segments: readonly string[];
  /** Where the first `+` or `*` stands; beyond every position for exact paths. */
  readonly firstWildcard: number;
  /** How many segments are `+`. */
  readonly pluses: number;
}

/** A path that no policy may have. */
export class PathPatternError extends Error {
  override readonly name = 'PathPatternError';
}

/** @throws PathPatternError for `+*`, which is neither one segment nor a beginning. */
export function pathPattern(written: string): PathPattern {
  const text = written.startsWith('/') ? written.slice(1) : written;
  if (text.includes('+*')) throw new PathPatternError(`invalid use of wildcards ('+*' is forbidden)`);
  const glob = text.endsWith('*');
  const stem = glob ? text.slice(0, -1) : text;
  const segments = stem.split('/');
  const pluses = segments.filter((segment) => segment === '+').length;
  if (pluses > 0) return { text, kind: 'segments', stem, glob, segments, firstWildcard: firstPlus(segments), pluses };
  if (glob) return { text, kind: 'prefix', stem, glob, segments, firstWildcard: stem.length, pluses };
  return { text, kind: 'exact', stem, glob, segments, firstWildcard: Number.POSITIVE_INFINITY, pluses };
}

function firstPlus(segments: readonly string[]): number {
  let position = 0;
  for (const segment of segments) {
    if (segment === '+') return position;
    position += segment.length + 1;
  }
  return position;
}

/** `folds`, by segment of the canonical path: a segment of the pattern that folds into the path's matches it as well. */
export function matchesPath({ kind, stem, glob, segments }: PathPattern, path: string, folds?: SegmentFolds): boolean {
  if (!folds) {
    if (kind === 'exact') return path === stem;
    if (kind === 'prefix') return path.startsWith(stem);
  }
  const asked = path.split('/');
  const last = segments.length - 1;
  if (glob ? asked.length < segments.length : asked.length !== segments.length) return false;
  return segments.every((segment, i) => {
    const other = folds?.[i]?.(segment) ?? segment;
    if (glob && i === last) return asked[i]!.startsWith(segment) || asked[i]!.startsWith(other);
    return segment === '+' || asked[i] === segment || asked[i] === other;
  });
}

/**
 * Which of two patterns decides where both match; positive: `a`. The order does not depend on the path: the first wildcard stands
 * later, then no closing `*`, then fewer `+`, then the longer one, then the one that sorts later.
 */
export function comparePatterns(a: PathPattern, b: PathPattern): number {
  if (a.firstWildcard !== b.firstWildcard) return a.firstWildcard > b.firstWildcard ? 1 : -1;
  if (a.glob !== b.glob) return a.glob ? -1 : 1;
  if (a.pluses !== b.pluses) return b.pluses - a.pluses;
  if (a.stem.length !== b.stem.length) return a.stem.length - b.stem.length;
  return a.stem === b.stem ? 0 : a.stem > b.stem ? 1 : -1;
}
