import { PrefixTree } from './prefix-tree.ts';
import type { PathPattern } from './path-pattern.ts';

/** What the tree holds: of several that match, the one of the highest rank is found. */
export interface Ranked {
  readonly pattern: PathPattern;
  readonly rank: number;
}

interface Node<T extends Ranked> {
  literals: Map<string, Node<T>> | undefined;
  plus: Node<T> | undefined;
  /** Patterns that end here. */
  value: T | undefined;
  /** Patterns that end below, in a beginning of a segment and `*`. */
  globs: PrefixTree<T> | undefined;
  /** The highest rank at or below this node: branches that cannot win are not entered. */
  highest: number;
}

/** Patterns with `+`, one level a segment. Only branches that fit the path are entered. */
export class SegmentTree<T extends Ranked> {
  readonly #root: Node<T> = branch();

  add(value: T): void {
    const { segments, glob } = value.pattern;
    const last = segments.length - 1;
    let node = this.#root;
    node.highest = Math.max(node.highest, value.rank);
    segments.forEach((segment, i) => {
      if (glob && i === last) {
        (node.globs ??= new PrefixTree()).set(segment, value);
        return;
      }
      node = segment === '+' ? (node.plus ??= branch()) : literal(node, segment);
      node.highest = Math.max(node.highest, value.rank);
    });
    if (!glob) node.value = value;
  }

  /** The match of the highest rank above that of `best`, else `best`. */
  find(path: string, best: T | undefined): T | undefined {
    return search(this.#root, path, 0, best);
  }
}

function search<T extends Ranked>(node: Node<T>, path: string, offset: number, best: T | undefined): T | undefined {
  if (best && node.highest <= best.rank) return best;
  if (offset > path.length) return node.value && (!best || node.value.rank > best.rank) ? node.value : best;
  let found = best;
  const glob = node.globs?.longest(path, offset);
  if (glob && (!found || glob.rank > found.rank)) found = glob;
  const slash = path.indexOf('/', offset);
  const end = slash < 0 ? path.length : slash;
  if (node.literals) {
    const child = node.literals.get(path.slice(offset, end));
    if (child) found = search(child, path, end + 1, found);
  }
  return node.plus ? search(node.plus, path, end + 1, found) : found;
}

function branch<T extends Ranked>(): Node<T> {
  return { literals: undefined, plus: undefined, value: undefined, globs: undefined, highest: -1 };
}

function literal<T extends Ranked>(node: Node<T>, segment: string): Node<T> {
  const literals = (node.literals ??= new Map<string, Node<T>>());
  let child = literals.get(segment);
  if (!child) literals.set(segment, (child = branch()));
  return child;
}
