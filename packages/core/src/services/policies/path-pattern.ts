import type { Fold } from '@strongroom/engine-sdk';
import type { PathFolds } from '../../kernel/mounts/path-router.ts';

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

/** `folds`: a pattern whose canonical form matches the canonical path matches as well. */
export function matchesPath(pattern: PathPattern, path: string, folds?: PathFolds): boolean {
  return matches(pattern, path) || (folds !== undefined && matches(foldedPattern(pattern, folds), path));
}

function matches({ kind, stem, glob, segments }: PathPattern, path: string): boolean {
  if (kind === 'exact') return path === stem;
  if (kind === 'prefix') return path.startsWith(stem);
  const asked = path.split('/');
  const last = segments.length - 1;
  if (glob ? asked.length < segments.length : asked.length !== segments.length) return false;
  return segments.every((segment, i) => {
    if (glob && i === last) return asked[i]!.startsWith(segment);
    return segment === '+' || asked[i] === segment;
  });
}

/** The canonical form of a pattern that is written in another variant of the paths it matches. */
export function foldedPattern({ segments, glob }: PathPattern, { segments: folds, tail }: PathFolds): PathPattern {
  const last = segments.length - 1;
  const foldAt = (segment: string, i: number, fold: Fold | undefined): string => {
    if (!fold || segment === '+' || segment === '') return segment;
    return glob && i === last ? foldedBeginning(segment, fold) : fold(segment);
  };
  const head = tail ? segments.slice(0, tail.from) : segments;
  const rest = tail ? segments.slice(tail.from) : [];
  const folded = head.map((segment, i) => foldAt(segment, i, folds[i]));
  // A `+` has no other variant, so what stands around it folds for itself.
  if (tail && rest.includes('+')) folded.push(...rest.map((segment, i) => foldAt(segment, tail.from + i, tail.fold)));
  else if (tail && rest.length > 0) folded.push(glob ? foldedBeginning(rest.join('/'), tail.fold) : tail.fold(rest.join('/')));
  return pathPattern(folded.join('/') + (glob ? '*' : ''));
}

/** Of a text that goes on: what a fold drops at the end of a text stays in the middle of one. */
function foldedBeginning(text: string, fold: Fold): string {
  const longer = fold(`${text}z`);
  return longer.endsWith('z') ? longer.slice(0, -1) : fold(text);
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
