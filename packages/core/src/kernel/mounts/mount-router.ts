import type { Mount } from './mount.ts';

interface Node {
  readonly next: Map<string, Node>;
  mount: Mount | undefined;
}

/** Longest mount prefix of a path: a radix tree by segment, so the time does not grow with the number of mounts. */
export class MountRouter {
  readonly #root: Node = { next: new Map(), mount: undefined };

  add(mount: Mount): void {
    let at = this.#root;
    for (const segment of mount.path.slice(0, -1).split('/')) {
      let next = at.next.get(segment);
      if (!next) at.next.set(segment, (next = { next: new Map(), mount: undefined }));
      at = next;
    }
    at.mount = mount;
  }

  remove(path: string): void {
    const trail: [Node, string][] = [];
    let at = this.#root;
    for (const segment of path.slice(0, -1).split('/')) {
      const next = at.next.get(segment);
      if (!next) return;
      trail.push([at, segment]);
      at = next;
    }
    at.mount = undefined;
    for (const [parent, segment] of trail.reverse()) {
      const child = parent.next.get(segment)!;
      if (child.mount || child.next.size > 0) return;
      parent.next.delete(segment);
    }
  }

  /** The mount that owns the path; `rest` begins behind its slash. `secret` alone reaches the mount `secret/`. */
  find(path: string): { mount: Mount; rest: string } | undefined {
    let at: Node | undefined = this.#root;
    let found: { mount: Mount; rest: string } | undefined;
    let start = 0;
    while (start <= path.length) {
      const slash = path.indexOf('/', start);
      const end = slash < 0 ? path.length : slash;
      at = at.next.get(path.slice(start, end));
      if (!at) break;
      if (at.mount) found = { mount: at.mount, rest: path.slice(end + 1) };
      if (slash < 0) break;
      start = slash + 1;
    }
    return found;
  }

  /** A mount at, above or below the path: why something else cannot be mounted there. `except`: the one that is to move there. */
  overlapping(path: string, except?: Mount): Mount | undefined {
    let at: Node | undefined = this.#root;
    for (const segment of path.slice(0, -1).split('/')) {
      at = at.next.get(segment);
      if (!at) return undefined;
      if (at.mount && at.mount !== except) return at.mount;
    }
    return first(at, except);
  }
}

function first(at: Node, except: Mount | undefined): Mount | undefined {
  if (at.mount && at.mount !== except) return at.mount;
  for (const next of at.next.values()) {
    const found = first(next, except);
    if (found) return found;
  }
  return undefined;
}
