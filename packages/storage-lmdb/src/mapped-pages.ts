import { closeSync, openSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';

const MADV_DONTNEED = 4;

type Advise = (address: bigint, length: number, advice: number) => number;

/**
 * The pages of one file that are mapped into this process, and a bound on how much of its resident memory they make up. Pages above the
 * bound are dropped from the process's page tables with `madvise`. As the mapping is shared with the page cache nothing is lost:
 * whoever reads such a page next finds it there. Linux only; elsewhere
 * `bound` does nothing.
 */
export class MappedPages {
  readonly #path: string;
  readonly #limit: number;
  /** Kept open: it is read often. Undefined where the system does not tell which pages are mapped. */
  #statm: number | undefined = openStatm();
  readonly #buffer = Buffer.alloc(256);
  readonly #pageBytes: number;
  /** What else is mapped: the program's own code. */
  #others: number;
  #advise: Advise | undefined;

  /** `path`: an existing file. `limit`: in bytes. */
  constructor(path: string, limit: number) {
    this.#path = realpathSync(path);
    this.#limit = limit;
    this.#pageBytes = 2 ** Math.round(Math.log2(process.memoryUsage.rss() / this.#pages(1)));
    this.#others = this.#resident();
  }

  /** Drops the pages when they are more than allowed: than the limit, and than `most` bytes. The file must stay mapped until this returns. */
  bound(most = this.#limit): void {
    if (this.#statm === undefined) return;
    const resident = this.#resident();
    this.#others = Math.min(this.#others, resident);
    if (resident - this.#others <= Math.min(most, this.#limit)) return;
    try {
      this.#advise ??= loadAdvise();
      this.#drop(this.#advise);
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.#statm !== undefined) closeSync(this.#statm);
    this.#statm = undefined;
  }

  #drop(advise: Advise): void {
    const length = statSync(this.#path).size;
    for (const { start, end } of mappingsOf(this.#path)) {
      if (advise(start, Math.min(length, Number(end - start)), MADV_DONTNEED) !== 0) this.close();
    }
    this.#others = this.#resident();
  }

  /** Bytes of files in this process's resident memory. */
  #resident(): number {
    return this.#pages(2) * this.#pageBytes;
  }

  /** One field of statm: 1 is the resident pages, 2 those of them that belong to files. */
  #pages(field: 1 | 2): number {
    if (this.#statm === undefined) return 0;
    const length = readSync(this.#statm, this.#buffer, 0, this.#buffer.length, 0);
    return Number(this.#buffer.toString('latin1', 0, length).split(' ', 3)[field]);
  }
}

/** Takes some milliseconds, and 3 MB: not before it is needed. At once, as whoever reads without a pause would map more meanwhile. */
function loadAdvise(): Advise {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  return koffi.load(null).func('int madvise(uintptr_t address, size_t length, int advice)') as Advise;
}

function openStatm(): number | undefined {
  try {
    return openSync('/proc/self/statm', 'r');
  } catch {
    return undefined;
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
