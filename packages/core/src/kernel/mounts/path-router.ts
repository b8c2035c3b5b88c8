import { BadRequest, compileDecoder, fieldSpec, type AnyPath, type Decoder, type Fold } from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';

type CaptureKind = 'name' | 'at' | 'any' | 'path' | 'all';

/** A declared path, ready to be called. */
export class RoutedPath {
  readonly declaration: AnyPath;
  readonly captures: readonly string[];
  #decode: Decoder | undefined;
  #names: FieldNames | undefined;

  constructor(declaration: AnyPath, captures: readonly string[]) {
    this.declaration = declaration;
    this.captures = captures;
  }

  // Of the paths of a mount few are ever called: what calls need is made at the first one.
  get decode(): Decoder {
    const { about } = this.declaration;
    return (this.#decode ??= compileDecoder(about.fields as TProperties, about));
  }

  /** The names of each field that has several, by each of them; undefined where none has. */
  get names(): FieldNames | undefined {
    this.#names ??= namesOf(this.declaration);
    return this.#names.size > 0 ? this.#names : undefined;
  }
}

export type FieldNames = ReadonlyMap<string, readonly string[]>;

export interface PathMatch {
  readonly path: RoutedPath;
  /** Of the canonical path. Without a prototype. */
  readonly captures: Readonly<Record<string, string>>;
  /** As the caller written them. */
  readonly verbatim: Readonly<Record<string, string>>;
  /** The canonical form of the path below the mount, without a closing slash. */
  readonly canonical: string;
  /** Absent where nothing of it folds. */
  readonly folds?: PathFolds;
}

/** How a path folds, by position of its segments; a hole is a segment that has one variant only. */
export interface PathFolds {
  readonly segments: readonly (Fold | undefined)[];
  /** The capture of everything that is left folds as one text. */
  readonly tail?: { readonly from: number; readonly fold: Fold };
}

interface Capture {
  readonly kind: CaptureKind;
  readonly node: Node;
  fold: Fold | undefined;
}

interface Node {
  readonly fixed: Map<string, Node>;
  /** In the order in which they are tried: the stricter kind first. */
  readonly captures: Capture[];
  end: RoutedPath | undefined;
  all: { readonly path: RoutedPath; readonly fold: Fold | undefined } | undefined;
}

interface Trail {
  /** What the captures took, in the order of the pattern. */
  readonly values: string[];
  /** Only where some path folds. */
  readonly folding: Folding | undefined;
}

interface Folding {
  /** The segment where each value begins. */
  readonly positions: number[];
  readonly segments: (Fold | undefined)[];
  tail?: { readonly from: number; readonly fold: Fold };
}

const NAME = /^\w(?:[\w.-]*\w)?$/;
/** What each segment of a capture is like. */
const SEGMENT: Record<Exclude<CaptureKind, 'all'>, RegExp> = {
  name: NAME,
  at: /^\w(?:[\w.@-]*\w)?$/,
  any: /^[^]+$/,
  path: NAME,
};
const STRICTNESS: readonly CaptureKind[] = ['name', 'at', 'any', 'path'];
/** A folded path may lead to a more exact declaration, which may fold in turn. */
const ROUNDS = 4;

/** Finds the declared path of a request: a tree of segments, so the time does not grow with the number of paths. */
export class PathRouter {
  readonly #root = node();
  readonly paths: readonly AnyPath[];
  #folds = false;

  constructor(paths: readonly AnyPath[]) {
    this.paths = paths;
    for (const declaration of paths) this.#add(declaration);
  }

  /**
   * `path` is below the mount; one closing slash does not matter. What folds is folded, and the path that comes of it decides.
   * @throws BadRequest for a path that folds into no path
   */
  match(path: string): PathMatch | undefined {
    let canonical = path.endsWith('/') ? path.slice(0, -1) : path;
    let verbatim: Record<string, string> | undefined;
    for (let round = 0; round < ROUNDS; round += 1) {
      const segments = canonical.split('/');
      if (canonical === '') segments.pop();
      const trail: Trail = { values: [], folding: this.#folds ? { positions: [], segments: [] } : undefined };
      const found = walk(this.#root, segments, 0, trail);
      if (!found) return undefined;
      const folded = trail.folding ? foldedPath(found, trail.values, trail.folding, segments) : undefined;
      const captures = Object.create(null) as Record<string, string>;
      for (let i = 0; i < trail.values.length; i += 1) captures[found.captures[i]!] = trail.values[i]!;
      verbatim ??= captures;
      if (folded !== undefined && folded !== canonical) {
        canonical = folded;
        continue;
      }
      const match = { path: found, captures, verbatim, canonical };
      return trail.folding ? { ...match, ...foldsOf(trail.folding) } : match;
    }
    throw new BadRequest(`the path ${JSON.stringify(path)} has no canonical form`);
  }

  #add(declaration: AnyPath): void {
    const names: string[] = [];
    const fields = declaration.about.fields as Record<string, TSchema>;
    let at = this.#root;
    const segments = declaration.pattern === '' ? [] : declaration.pattern.split('/');
    let all: { fold: Fold | undefined } | undefined;
    for (const segment of segments) {
      if (all) throw new Error(`path ${declaration.pattern}: nothing can follow a capture of everything`);
      const capture = /^\{(\w+)(?::(\w+))?\}$/.exec(segment);
      if (!capture) {
        if (segment.includes('{') || segment === '') throw new Error(`path ${declaration.pattern}: a capture fills its whole segment`);
        let next = at.fixed.get(segment);
        if (!next) at.fixed.set(segment, (next = node()));
        at = next;
        continue;
      }
      const kind = (capture[2] ?? 'name') as CaptureKind;
      if (kind !== 'all' && !STRICTNESS.includes(kind)) throw new Error(`path ${declaration.pattern}: there is no capture kind ${kind}`);
      const name = capture[1]!;
      const folds = Object.hasOwn(fields, name) ? fieldSpec(fields[name]!).folds : undefined;
      if (folds) this.#folds = true;
      names.push(name);
      if (kind === 'all') all = { fold: folds };
      else at = captureOf(at, kind, folds, declaration).node;
    }
    const routed = new RoutedPath(declaration, names);
    if (all ? at.all : at.end) throw new Error(`path ${declaration.pattern} is declared twice`);
    if (all) at.all = { path: routed, fold: all.fold };
    else at.end = routed;
  }
}

function namesOf({ about }: AnyPath): FieldNames {
  const names = new Map<string, readonly string[]>();
  for (const [name, schema] of Object.entries(about.fields as Record<string, TSchema>)) {
    const all = [name, ...(fieldSpec(schema).aliases ?? [])];
    if (all.length > 1) for (const one of all) names.set(one, all);
  }
  return names;
}

function node(): Node {
  return { fixed: new Map(), captures: [], end: undefined, all: undefined };
}

/** Paths that share a capture mean the same names by it, so they fold them alike. */
function captureOf(at: Node, kind: CaptureKind, fold: Fold | undefined, { pattern }: AnyPath): Capture {
  const known = at.captures.find((capture) => capture.kind === kind);
  if (known) {
    if (known.fold !== fold) throw new Error(`path ${pattern}: another path folds the same capture differently`);
    return known;
  }
  const made: Capture = { kind, node: node(), fold };
  at.captures.push(made);
  at.captures.sort((a, b) => STRICTNESS.indexOf(a.kind) - STRICTNESS.indexOf(b.kind));
  return made;
}

function walk(at: Node, segments: readonly string[], index: number, trail: Trail): RoutedPath | undefined {
  const segment = segments[index];
  const { values, folding } = trail;
  if (segment === undefined) {
    if (at.end) return at.end;
  } else {
    const fixed = at.fixed.get(segment);
    if (fixed) {
      // What stands here as it is may be what another variant folds into.
      if (folding) folding.segments[index] = at.captures.find((capture) => capture.fold)?.fold;
      const below = walk(fixed, segments, index + 1, trail);
      if (below) return below;
    }
    for (const capture of at.captures) {
      const most = capture.kind === 'path' ? segments.length : index + 1;
      folding?.positions.push(index);
      // The shortest first: what the pattern says of its end decides, and not the capture.
      let value = '';
      for (let end = index; end < most && SEGMENT[capture.kind as 'name'].test(segments[end]!); end += 1) {
        value = end === index ? segment : `${value}/${segments[end]!}`;
        values.push(value);
        if (folding) folding.segments[end] = capture.fold;
        const below = walk(capture.node, segments, end + 1, trail);
        if (below) return below;
        values.pop();
      }
      folding?.positions.pop();
    }
  }
  if (!at.all) return undefined;
  values.push(segments.slice(index).join('/'));
  if (folding) {
    folding.positions.push(index);
    folding.segments.length = Math.min(folding.segments.length, index);
    if (at.all.fold) folding.tail = { from: index, fold: at.all.fold };
  }
  return at.all.path;
}

function foldsOf({ segments, tail }: Folding): { folds?: PathFolds } {
  if (!tail && segments.every((one) => one === undefined)) return {};
  return { folds: { segments, ...(tail ? { tail } : {}) } };
}

/** The path with its captures folded. @throws BadRequest where a fold gives what is no path */
function foldedPath(
  found: RoutedPath,
  values: readonly string[],
  { positions, segments: folds, tail }: Folding,
  segments: readonly string[],
): string {
  const next = [...segments];
  for (const [i, value] of values.entries()) {
    const position = positions[i]!;
    const parts = value.split('/');
    const each = (): string => parts.map((part, k) => folds[position + k]?.(part) ?? part).join('/');
    const folded = tail?.from === position ? tail.fold(value) : each();
    if (folded === value) continue;
    const { length } = parts;
    const foldedParts = folded.split('/');
    const isPath = foldedParts.every((segment) => segment !== '' && segment !== '.' && segment !== '..');
    if (!isPath || (foldedParts.length !== length && (length === 1 || tail?.from !== position))) {
      throw new BadRequest(
        `${found.captures[i]!}: ${JSON.stringify(value)} folds into ${JSON.stringify(folded)}, which cannot stand in a path`,
      );
    }
    // Only the last capture may change how many segments there are, so the positions before it stay.
    next.splice(position, length, ...foldedParts);
  }
  return next.join('/');
}
