import { compileDecoder, type AnyPath, type Decoder } from '@strongroom/engine-sdk';

type CaptureKind = 'name' | 'at' | 'any' | 'all';

/** A declared path, ready to be called. */
export interface RoutedPath {
  readonly declaration: AnyPath;
  readonly captures: readonly string[];
  readonly decode: Decoder;
}

export interface PathMatch {
  readonly path: RoutedPath;
  readonly captures: Readonly<Record<string, string>>;
}

interface Node {
  readonly fixed: Map<string, Node>;
  /** In the order in which they are tried: the stricter kind first. */
  readonly captures: { readonly kind: CaptureKind; readonly node: Node }[];
  end: RoutedPath | undefined;
  all: RoutedPath | undefined;
}

const SEGMENT: Record<Exclude<CaptureKind, 'all'>, RegExp> = {
  name: /^\w(?:[\w.-]*\w)?$/,
  at: /^\w(?:[\w.@-]*\w)?$/,
  any: /^[^]+$/,
};
const STRICTNESS: readonly CaptureKind[] = ['name', 'at', 'any'];

/** Finds the declared path of a request: a tree of segments, so the time does not grow with the number of paths. */
export class PathRouter {
  readonly #root = node();
  readonly paths: readonly AnyPath[];

  constructor(paths: readonly AnyPath[]) {
    this.paths = paths;
    for (const declaration of paths) this.#add(declaration);
  }

  /** `path` is below the mount; one closing slash does not matter. */
  match(path: string): PathMatch | undefined {
    const segments = path.split('/');
    if (segments[segments.length - 1] === '') segments.pop();
    const values: string[] = [];
    const found = walk(this.#root, segments, 0, values);
    if (!found) return undefined;
    const captures: Record<string, string> = {};
    for (let i = 0; i < found.captures.length; i += 1) captures[found.captures[i]!] = values[i]!;
    return { path: found, captures };
  }

  #add(declaration: AnyPath): void {
    const names: string[] = [];
    let at = this.#root;
    const segments = declaration.pattern === '' ? [] : declaration.pattern.split('/');
    let open = false;
    for (const segment of segments) {
      if (open) throw new Error(`path ${declaration.pattern}: nothing can follow a capture of everything`);
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
      names.push(capture[1]!);
      if (kind === 'all') {
        open = true;
        continue;
      }
      let next = at.captures.find((known) => known.kind === kind)?.node;
      if (!next) {
        next = node();
        at.captures.push({ kind, node: next });
        at.captures.sort((a, b) => STRICTNESS.indexOf(a.kind) - STRICTNESS.indexOf(b.kind));
      }
      at = next;
    }
    const routed: RoutedPath = { declaration, captures: names, decode: compileDecoder(declaration.about.fields, declaration.about) };
    const slot = open ? 'all' : 'end';
    if (at[slot]) throw new Error(`path ${declaration.pattern} is declared twice`);
    at[slot] = routed;
  }
}

function node(): Node {
  return { fixed: new Map(), captures: [], end: undefined, all: undefined };
}

function walk(at: Node, segments: readonly string[], index: number, values: string[]): RoutedPath | undefined {
  const segment = segments[index];
  if (segment === undefined) {
    if (at.end) return at.end;
  } else {
    const fixed = at.fixed.get(segment);
    const found = fixed && walk(fixed, segments, index + 1, values);
    if (found) return found;
    for (const capture of at.captures) {
      if (!SEGMENT[capture.kind as 'name'].test(segment)) continue;
      values.push(segment);
      const below = walk(capture.node, segments, index + 1, values);
      if (below) return below;
      values.pop();
    }
  }
  if (!at.all) return undefined;
  values.push(segments.slice(index).join('/'));
  return at.all;
}
