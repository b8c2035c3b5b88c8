import { readFileSync, realpathSync, statSync } from 'node:fs';

const MADV_DONTNEED = 4;

type Advise = (address: bigint, length: number, advice: number) => number;

/**
 * The pages of one file that are mapped into this process, and a bound on how much of its resident memory they make up. Pages above the
 * bound are dropped from the process's page tables with `madvise`. As the mapping is shared with the page cache nothing is lost:
 * whoever reads such a page next finds it there. Linux only, and only where the optional package `koffi` can be loaded; elsewhere
 * `bound` does nothing.
 */
export class MappedPages {
  readonly #path: string;
  readonly #limit: number;
  readonly #pageBytes = pageBytes();
  /** What else is mapped: the program's own code. */
  #others: number;
  #possible: boolean;
  #loading = false;
  #advise: Advise | undefined;

  /** `path`: an existing file. `limit`: in bytes. */
  constructor(path: string, limit: number) {
    this.#path = realpathSync(path);
    this.#limit = limit;
    this.#others = this.#resident();
    this.#possible = this.#pageBytes > 0 && Number.isFinite(limit);
  }

  /** Drops the pages when they are more than allowed. The file must stay mapped until this returns. */
  bound(): void {
    if (!this.#possible) return;
    const resident = this.#resident();
    this.#others = Math.min(this.#others, resident);
    if (resident - this.#others <= this.#limit) return;
    if (this.#advise) this.#drop(this.#advise);
    else if (!this.#loading) void this.#load();
  }

  /** Takes some milliseconds, and 3 MB: not before it is needed. */
  async #load(): Promise<void> {
    this.#loading = true;
    try {
      const { default: koffi } = await import('koffi');
      this.#advise = koffi.load(null).func('int madvise(uintptr_t address, size_t length, int advice)') as unknown as Advise;
    } catch {
      this.#possible = false;
    }
  }

  #drop(advise: Advise): void {
    try {
      const length = statSync(this.#path).size;
      for (const { start, end } of mappingsOf(this.#path)) {
        if (advise(start, Math.min(length, Number(end - start)), MADV_DONTNEED) !== 0) this.#possible = false;
      }
      this.#others = this.#resident();
    } catch {
      this.#possible = false;
    }
  }

  /** Bytes of files in this process's resident memory. */
  #resident(): number {
    return this.#pageBytes && pagesOf(2) * this.#pageBytes;
  }
}

/** One field of statm: 1 is the resident pages, 2 those of them that belong to files. */
function pagesOf(field: 1 | 2): number {
  return Number(readFileSync('/proc/self/statm', 'latin1').split(' ', 3)[field]);
}

/** Bytes of a page, or 0 where the system does not tell which pages are mapped. */
function pageBytes(): number {
  try {
    return 2 ** Math.round(Math.log2(process.memoryUsage.rss() / pagesOf(1)));
  } catch {
    return 0;
  }
}

/** Where a file is mapped and shared: any other kind of mapping would lose what was written to its pages. */
function mappingsOf(path: string): { start: bigint; end: bigint }[] {
  const name = path.replaceAll('\n', '\\012');
  const found: { start: bigint; end: bigint }[] = [];
  for (const line of readFileSync('/proc/self/maps', 'utf8').split('\n')) {
    if (!line.endsWith(name)) continue;
    const [, start, end, file] = /^([\da-f]+)-([\da-f]+) ..-s \S+ \S+ \d+ +(.+)$/.exec(line) ?? [];
    if (file === name) found.push({ start: BigInt(`0x${start}`), end: BigInt(`0x${end}`) });
  }
  return found;
}
