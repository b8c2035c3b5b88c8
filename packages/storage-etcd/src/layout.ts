/** Where everything is below the prefix of a store. */
export class Layout {
  /** Which generation of entries counts, and in which history the store is. */
  readonly state: Buffer;
  /** Written with every change that notifies: its revision tells what there is to be read. */
  readonly head: Buffer;
  /** Everything that is watched: the head, and the notifications of each process. */
  readonly changed: Span;
  readonly claim: Buffer;
  /** Marks of the commits of each process. */
  readonly nodes: Span;
  /** Revisions that are being copied, and generations that are being written. */
  readonly holds: Span;
  /** Of all generations. */
  readonly entries: Span;
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.state = Buffer.from(`${prefix}state`);
    this.head = Buffer.from(`${prefix}changed/`);
    this.changed = spanOf(`${prefix}changed/`);
    this.claim = Buffer.from(`${prefix}compaction`);
    this.nodes = spanOf(`${prefix}nodes/`);
    this.holds = spanOf(`${prefix}holds/`);
    this.entries = spanOf(`${prefix}entries/`);
  }

  /** All entries of one generation. */
  generation(generation: string): Span {
    return spanOf(`${this.#prefix}entries/${generation}/`);
  }

  entry(generation: string, key: string): Buffer {
    return Buffer.from(`${this.#prefix}entries/${generation}/${key}`);
  }

  marker(origin: string): Buffer {
    return Buffer.from(`${this.#prefix}nodes/${origin}`);
  }

  /** `slot` differs among the changes of one transaction. */
  notification(origin: string, slot: number): Buffer {
    return Buffer.from(`${this.#prefix}changed/${origin}/${slot}`);
  }

  /** Whose notification is in that key; undefined for the head. */
  originOf(key: Buffer): string | undefined {
    return key.toString().slice(this.head.length).split('/')[0] || undefined;
  }

  hold(id: string): Buffer {
    return Buffer.from(`${this.#prefix}holds/${id}`);
  }
}

/** Keys from `key` up to `end`, exclusive. */
export interface Span {
  readonly key: Buffer;
  readonly end: Buffer;
}

/** All keys with a prefix of ASCII characters. */
export function spanOf(prefix: string): Span {
  return { key: Buffer.from(prefix), end: behind(Buffer.from(prefix)) };
}

/** The first key behind all that begin with these bytes of UTF-8, which are never 0xff. */
export function behind(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  end[end.length - 1]! += 1;
  return end;
}
