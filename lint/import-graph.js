import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

const RELATIVE_IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;
/** How long a graph is reused; milliseconds. An editor keeps the linter running while files change. */
const FRESH = 2_000;

const graphs = new Map();

/**
 * The relative imports between the files below a folder, types and dynamic imports included. Reused while it is fresh.
 * @param {string} root
 */
export function importGraph(root) {
  const known = graphs.get(root);
  if (known && Date.now() - known.built < FRESH) return known.graph;
  const graph = new ImportGraph(root);
  graphs.set(root, { graph, built: Date.now() });
  return graph;
}

export class ImportGraph {
  /** @type {Map<string, Map<string, Set<string>>>} By folder: which of its members import which others. */
  #members = new Map();
  /** @type {Map<string, Map<string, number>>} By folder: the circle of each member that is in one. */
  #circles = new Map();

  /** @param {string} root */
  constructor(root) {
    this.root = root;
    for (const file of sourceFiles(root)) {
      for (const [, specifier] of readFileSync(file, 'utf8').matchAll(RELATIVE_IMPORT)) this.#add(file, join(dirname(file), specifier));
    }
    for (const [folder, arrows] of this.#members) this.#circles.set(folder, circlesOf(arrows));
  }

  /**
   * Whether an import is part of a circle: what it leads to leads back. Both ends are seen as members of the lowest folder that holds both, so a circle
   * may go through many files of a subfolder. Returns the members in the circle.
   * @param {string} from
   * @param {string} to
   * @returns {string[] | undefined}
   */
  circle(from, to) {
    const { folder, members } = membersOf(this.root, from, to);
    const circles = this.#circles.get(folder);
    const circle = circles?.get(members[0]);
    if (circle === undefined || circle !== circles?.get(members[1])) return undefined;
    return [...circles].filter(([, other]) => other === circle).map(([member]) => member);
  }

  #add(from, to) {
    if (relative(this.root, to).startsWith('..') || from === to) return;
    const { folder, members } = membersOf(this.root, from, to);
    const arrows = this.#members.get(folder) ?? new Map();
    this.#members.set(folder, arrows);
    for (const member of members) if (!arrows.has(member)) arrows.set(member, new Set());
    arrows.get(members[0]).add(members[1]);
  }
}

/**
 * The lowest folder that holds both files, relative to the root, and its members that hold the one and the other: a file's name, or a folder's.
 * @param {string} root
 * @param {string} from
 * @param {string} to
 */
export function membersOf(root, from, to) {
  const [a, b] = [from, to].map((file) => relative(root, file).split(sep));
  let depth = 0;
  while (depth < a.length - 1 && depth < b.length - 1 && a[depth] === b[depth]) depth += 1;
  return { folder: a.slice(0, depth).join('/'), members: [a[depth], b[depth]] };
}

/** Tarjan's strongly connected components with more than one member: the number of its circle, by member. */
function circlesOf(arrows) {
  const order = new Map();
  const lowest = new Map();
  const trail = [];
  const circles = new Map();
  const visit = (member) => {
    order.set(member, order.size);
    lowest.set(member, order.get(member));
    trail.push(member);
    for (const next of arrows.get(member)) {
      if (!order.has(next)) visit(next);
      if (trail.includes(next)) lowest.set(member, Math.min(lowest.get(member), lowest.get(next)));
    }
    if (lowest.get(member) !== order.get(member)) return;
    const circle = trail.splice(trail.indexOf(member));
    if (circle.length > 1) for (const one of circle) circles.set(one, order.get(member));
  };
  for (const member of arrows.keys()) if (!order.has(member)) visit(member);
  return circles;
}

function sourceFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}
