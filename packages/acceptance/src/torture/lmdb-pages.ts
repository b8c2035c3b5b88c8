import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** What lmdb prints when it leaves free pages out of the lists that it writes, without a line break. */
export const LOST_PAGES_TEXT = 'reserved_space larger than allocated entry';

/** Where every page of an LMDB file is, as its newest transaction left it. */
export interface PageReport {
  /** Up to the last one that the transaction knows, the two meta pages included. */
  readonly pages: number;
  readonly used: number;
  readonly free: number;
  /** In no tree and in no list of free pages: lost for reuse, until the store is copied. */
  readonly leaked: readonly number[];
  /** Pages that are used twice, free twice, both free and used, or not what they are taken for. Empty where the file is sound. */
  readonly problems: readonly string[];
}

// Of mdb.c of lmdb 3.5.6, on a machine of 64 bits that puts the low byte first.
const HEADER = 24;
const MAGIC = 0xbeefc0de;
const VERSION = 2;
const PAGE_SIZE_AT = HEADER + 24;
const ENVIRONMENT_FLAGS_AT = HEADER + 28;
const FREE_ROOT_AT = HEADER + 64;
const MAIN_ROOT_AT = HEADER + 112;
const LAST_PAGE_AT = HEADER + 120;
const TRANSACTION_AT = HEADER + 128;
/** Within the description of a database: its root. */
const ROOT_AT = 40;
const META_BYTES = HEADER + 144;
const ENCRYPTED = 0x2000;
const NO_PAGE = 2n ** 64n - 1n;

const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
const META = 0x08;
const PACKED_LEAF = 0x20;

const LARGE_VALUE = 0x01;
const SUB_DATABASE = 0x02;
const NODE_HEADER = 8;

const META_PAGES = 2;
/** Enough to see what is wrong with a file. */
const MOST_PROBLEMS = 20;

interface Node {
  readonly flags: number;
  /** Of a branch. */
  readonly child: number;
  readonly value: Buffer;
}

interface Meta {
  readonly pageSize: number;
  readonly freeRoot: bigint;
  readonly mainRoot: bigint;
  readonly lastPage: number;
  readonly transaction: bigint;
}

/**
 * Reads a file that no process writes to meanwhile. Each page has to be used by exactly one tree, or to be free: a page that is both would be overwritten by a
 * later commit. @throws Error where it is no LMDB file of this format
 */
export function checkPages(file: string): PageReport {
  const pages = new PageFile(file);
  try {
    return new PageCheck(pages).report();
  } finally {
    pages.close();
  }
}

/** Pages of the newest transaction, by their numbers. */
class PageFile {
  readonly meta: Meta;
  readonly #file: number;
  readonly #bytes: number;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.#bytes = fstatSync(this.#file).size;
    try {
      this.meta = this.#newest();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Undefined where the file ends before that. */
  read(page: number, bytes = this.meta.pageSize): Buffer | undefined {
    return this.#at(page * this.meta.pageSize, bytes);
  }

  close(): void {
    closeSync(this.#file);
  }

  #newest(): Meta {
    const first = this.#metaAt(0);
    const second = this.#metaAt(first.pageSize);
    return first.transaction > second.transaction ? first : second;
  }

  #metaAt(offset: number): Meta {
    const page = this.#at(offset, META_BYTES);
    if (!page || !(flagsOf(page) & META) || page.readUInt32LE(HEADER) !== MAGIC) throw new Error('this is no LMDB file');
    const version = page.readUInt16LE(HEADER + 4);
    if (version !== VERSION) throw new Error(`the file has format ${version} of LMDB, and not ${VERSION}`);
    if (page.readUInt16LE(ENVIRONMENT_FLAGS_AT) & ENCRYPTED) throw new Error('the file is encrypted by LMDB');
    return {
      pageSize: page.readUInt32LE(PAGE_SIZE_AT),
      freeRoot: page.readBigUInt64LE(FREE_ROOT_AT),
      mainRoot: page.readBigUInt64LE(MAIN_ROOT_AT),
      lastPage: Number(page.readBigUInt64LE(LAST_PAGE_AT)),
      transaction: page.readBigUInt64LE(TRANSACTION_AT),
    };
  }

  #at(offset: number, bytes: number): Buffer | undefined {
    if (offset < 0 || offset + bytes > this.#bytes) return undefined;
    const buffer = Buffer.alloc(bytes);
    return readSync(this.#file, buffer, 0, bytes, offset) === bytes ? buffer : undefined;
  }
}

class PageCheck {
  readonly #pages: PageFile;
  /** What each page is for; undefined while nothing is known of it. */
  readonly #purposes: (string | undefined)[];
  readonly #problems: string[] = [];
  #used = META_PAGES;
  #free = 0;

  constructor(pages: PageFile) {
    this.#pages = pages;
    this.#purposes = Array.from({ length: pages.meta.lastPage + 1 }, () => undefined);
    this.#purposes.fill('a meta page', 0, META_PAGES);
  }

  report(): PageReport {
    const { freeRoot, mainRoot } = this.#pages.meta;
    this.#tree(mainRoot, 'the main tree');
    const lists: Buffer[] = [];
    this.#tree(freeRoot, 'the tree of free pages', (list) => lists.push(list));
    // Only now it is known what is in use.
    for (const list of lists) this.#freed(list);
    const leaked = [...this.#purposes.keys()].filter((page) => this.#purposes[page] === undefined);
    return { pages: this.#purposes.length, used: this.#used, free: this.#free, leaked, problems: this.#problems };
  }

  #tree(root: bigint, name: string, told?: (value: Buffer) => void): void {
    if (root === NO_PAGE) return;
    const open = [Number(root)];
    for (let page = open.pop(); page !== undefined; page = open.pop()) {
      if (!this.#use(page, name)) continue;
      const bytes = this.#pages.read(page);
      const kind = bytes ? flagsOf(bytes) : 0;
      if (!bytes || !(kind & (BRANCH | LEAF)) || numberOf(bytes) !== page) {
        this.#problem(`page ${page} of ${name} is no page of a tree`);
        continue;
      }
      // What is packed has no nodes, and so nothing outside the page.
      if (kind & PACKED_LEAF) continue;
      for (const node of nodesOf(bytes)) {
        if (kind & BRANCH) open.push(node.child);
        else if (node.flags & LARGE_VALUE) this.#large(node.value, name, told);
        else if (node.flags & SUB_DATABASE) this.#tree(node.value.readBigUInt64LE(ROOT_AT), 'the tree of a database');
        else told?.(node.value);
      }
    }
  }

  /** A value in pages of its own, of which only the first one has a header. */
  #large(node: Buffer, name: string, told?: (value: Buffer) => void): void {
    const [first, length] = [Number(node.readBigUInt64LE(0)), Number(node.readBigUInt64LE(16))];
    const what = `a large value in ${name}`;
    const header = this.#pages.read(first, HEADER);
    if (!header || !(flagsOf(header) & OVERFLOW) || numberOf(header) !== first || header.readUInt32LE(20) !== length) {
      return this.#problem(`page ${first} does not begin ${what} of ${length} pages`);
    }
    for (let page = first; page < first + length; page += 1) if (!this.#use(page, what)) return;
    const bytes = told && this.#pages.read(first, length * this.#pages.meta.pageSize);
    if (bytes) told(bytes.subarray(HEADER));
  }

  /** A record of free pages: how many numbers follow, then numbers of pages; a negative one says how long the block is that the next one begins, and 0 is nothing. */
  #freed(list: Buffer): void {
    const count = Number(list.readBigInt64LE(0));
    if (count * 8 + 8 > list.length) return this.#problem(`a list of ${count} free pages is longer than its record`);
    for (let i = 1; i <= count; i += 1) {
      const entry = Number(list.readBigInt64LE(i * 8));
      if (entry === 0) continue;
      if (entry < 0) i += 1;
      const length = Math.max(1, -entry);
      if (i * 8 + 8 > list.length) return this.#problem(`a list of free pages ends within a block of ${length}`);
      const first = entry < 0 ? Number(list.readBigInt64LE(i * 8)) : entry;
      for (let page = first; page < first + length; page += 1) this.#release(page);
    }
  }

  /** False where nothing more is to be read from that page. */
  #use(page: number, purpose: string): boolean {
    if (!this.#take(page, purpose)) return false;
    this.#used += 1;
    return true;
  }

  #release(page: number): void {
    if (this.#take(page, 'free')) this.#free += 1;
  }

  #take(page: number, purpose: string): boolean {
    if (!(page >= 0 && page < this.#purposes.length)) {
      this.#problem(`page ${page}, for ${purpose}, is behind the last one`);
      return false;
    }
    const before = this.#purposes[page];
    this.#purposes[page] = purpose;
    if (before !== undefined)
      this.#problem(before === purpose ? `page ${page} is twice in ${purpose}` : `page ${page} is ${before} and ${purpose}`);
    return before === undefined;
  }

  #problem(text: string): void {
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push(text);
  }
}

function numberOf(page: Buffer): number {
  return Number(page.readBigUInt64LE(0));
}

function flagsOf(page: Buffer): number {
  return page.readUInt16LE(18);
}

function nodesOf(page: Buffer): Node[] {
  const count = page.readUInt16LE(20) / 2;
  return Array.from({ length: count }, (_, i) => {
    const at = HEADER + page.readUInt16LE(HEADER + i * 2);
    const [low, high, flags, keyBytes] = [0, 2, 4, 6].map((offset) => page.readUInt16LE(at + offset)) as [number, number, number, number];
    const value = at + NODE_HEADER + keyBytes;
    const bytes = flags & LARGE_VALUE ? 24 : low + high * 2 ** 16;
    return { flags, child: low + high * 2 ** 16 + flags * 2 ** 32, value: page.subarray(value, value + bytes) };
  });
}
