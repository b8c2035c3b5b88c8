import { open, readdir, readFile, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Lines to deliver together. The same until they were delivered, also after a restart. */
export interface LineBatch {
  readonly segment: number;
  /** Bytes of the segment. */
  readonly from: number;
  readonly to: number;
  readonly bytes: Buffer;
  readonly lines: number;
}

/** Bounds of a batch. One line is a batch, however long it is. */
export interface BatchLimits {
  readonly lines: number;
  readonly bytes: number;
}

interface Segment {
  readonly number: number;
  /** Bytes of whole lines that are on disk. */
  size: number;
}

/** What is in the file `position`: the bytes before `from` were delivered, those up to `to` are being delivered. */
interface Position {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
}

const NEWLINE = 0x0a;
/** Bytes, from which on lines go to a new file: delivered files are removed. */
const SEGMENT = 4 << 20;
/** From which on a file whose lines were delivered is removed before it is full. */
const ENOUGH = 64 << 10;
const POSITION = 'position';

/** Lines on disk, in files of a folder, that wait for delivery in their order. One process has a buffer at a time. */
export class LineBuffer {
  readonly folder: string;
  readonly #segments: Segment[];
  #position: Position;
  #file: FileHandle | undefined;
  #underWay: LineBatch | undefined;
  /** The last file may have bytes behind its whole lines. */
  #torn = false;

  private constructor(folder: string, segments: Segment[], position: Position) {
    this.folder = folder;
    this.#segments = segments;
    this.#position = position;
  }

  /** What is in the folder. Lines behind the last line break were cut off before they were acknowledged: they are removed, and counted in `cut`. */
  static async open(folder: string): Promise<{ buffer: LineBuffer; cut: number }> {
    const numbers = (await readdir(folder)).flatMap((name) => (/^\d{12}\.lines$/.test(name) ? [Number.parseInt(name, 10)] : []));
    const position = await readPosition(folder);
    const segments: Segment[] = [];
    let cut = 0;
    for (const number of numbers.sort((a, b) => a - b)) {
      const path = join(folder, nameOf(number));
      if (number < position.segment) {
        await rm(path, { force: true });
        continue;
      }
      const { size } = await stat(path);
      const whole = await endOfLines(path, size);
      cut += size - whole;
      segments.push({ number, size: whole });
    }
    const first = segments[0];
    const known = first?.number === position.segment && position.from <= first.size && position.to <= first.size;
    const begin = known ? position : { segment: first?.number ?? position.segment, from: 0, to: 0 };
    return { buffer: new LineBuffer(folder, segments, begin), cut };
  }

  /** Bytes that were not delivered. */
  get bytes(): number {
    return this.#segments.reduce((sum, { size }) => sum + size, 0) - (this.#segments.length > 0 ? this.#position.from : 0);
  }

  /** Resolves when the lines are on disk; each ends with a line break. @throws when they may not be: they are not kept then, or once too often */
  async append(lines: Buffer): Promise<void> {
    await this.#makeRoom();
    const last = this.#segments[this.#segments.length - 1];
    const segment = last && last.size < SEGMENT ? last : await this.#begin((last?.number ?? this.#position.segment) + 1);
    this.#file ??= await open(join(this.folder, nameOf(segment.number)), 'r+');
    const file = this.#file;
    try {
      if (this.#torn) await file.truncate(segment.size);
      this.#torn = true;
      let written = 0;
      while (written < lines.length)
        written += (await file.write(lines, written, lines.length - written, segment.size + written)).bytesWritten;
      await file.datasync();
      segment.size += lines.length;
      this.#torn = false;
    } catch (error) {
      await file.truncate(segment.size).then(
        () => (this.#torn = false),
        () => undefined,
      );
      await this.#release();
      throw error;
    }
  }

  /** Where all lines were delivered, their file is removed before there are others: the disk may be full of them. */
  async #makeRoom(): Promise<void> {
    const [first, second] = this.#segments;
    if (!first || second || first.size < ENOUGH || this.#position.from < first.size) return;
    this.#segments.shift();
    this.#position = { segment: first.number, from: 0, to: 0 };
    await this.#release();
    await rm(join(this.folder, nameOf(first.number)), { force: true });
  }

  /** The next lines to deliver; undefined where there are none. The same ones until `delivered` or `shrink`. */
  async next(limits: BatchLimits): Promise<LineBatch | undefined> {
    if (this.#underWay) return this.#underWay;
    let segment = this.#segments[0];
    while (segment && this.#position.from >= segment.size) {
      if (this.#segments.length === 1) return undefined;
      this.#segments.shift();
      await rm(join(this.folder, nameOf(segment.number)), { force: true });
      segment = this.#segments[0]!;
      this.#position = { segment: segment.number, from: 0, to: 0 };
    }
    if (!segment) return undefined;
    const { from } = this.#position;
    const bytes = await this.#read(segment, limits);
    const to = from + bytes.length;
    await this.#move({ segment: segment.number, from, to }, true);
    return (this.#underWay = { segment: segment.number, from, to, bytes, lines: countLines(bytes) });
  }

  /** The batch that was `next`. */
  async delivered(batch: LineBatch): Promise<void> {
    this.#underWay = undefined;
    await this.#move({ segment: batch.segment, from: batch.to, to: batch.to }, false);
  }

  /** The receiver does not take so many lines at once: the next batch is made again. */
  async shrink(): Promise<void> {
    this.#underWay = undefined;
    await this.#move({ ...this.#position, to: this.#position.from }, true);
  }

  /** Removes the folder. */
  async remove(): Promise<void> {
    await this.#release();
    await rm(this.folder, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await this.#release();
  }

  async #read({ number, size }: Segment, limits: BatchLimits): Promise<Buffer> {
    const { from, to } = this.#position;
    const file = await open(join(this.folder, nameOf(number)), 'r');
    try {
      // What was sent before a restart is sent again as it was.
      if (to > from) return await readAt(file, from, to - from);
      for (let most = limits.bytes; ; most *= 2) {
        const found = await readAt(file, from, Math.min(most, size - from));
        const end = endOfLine(found, limits.lines);
        if (end > 0) return found.subarray(0, end);
        if (from + most >= size) throw new Error(`${JSON.stringify(this.folder)} has no line where one must begin`);
      }
    } finally {
      await file.close();
    }
  }

  async #move(position: Position, durable: boolean): Promise<void> {
    const path = join(this.folder, POSITION);
    try {
      await writeFile(`${path}.new`, JSON.stringify(position), { mode: 0o600, flush: durable });
      await rename(`${path}.new`, path);
    } catch (error) {
      // Lines that are delivered make room. Without the file, a restart sends some of them once more.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC' && (error as NodeJS.ErrnoException).code !== 'EDQUOT') throw error;
    }
    this.#position = position;
  }

  async #begin(number: number): Promise<Segment> {
    await this.#release();
    this.#file = await open(join(this.folder, nameOf(number)), 'w+', 0o600);
    await syncFolder(this.folder);
    const segment = { number, size: 0 };
    if (this.#segments.length === 0) this.#position = { segment: number, from: 0, to: 0 };
    this.#segments.push(segment);
    return segment;
  }

  async #release(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }
}

/** New names in a folder survive the end of the machine from now on. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function nameOf(segment: number): string {
  return `${String(segment).padStart(12, '0')}.lines`;
}

/** One that cannot be read says that nothing was delivered: lines come twice then, and none is lost. */
async function readPosition(folder: string): Promise<Position> {
  const text = await readFile(join(folder, POSITION), 'utf8').catch(() => '');
  try {
    const { segment, from, to } = JSON.parse(text) as Position;
    if ([segment, from, to].every((value) => Number.isSafeInteger(value) && value >= 0) && from <= to) return { segment, from, to };
  } catch {
    // Below.
  }
  return { segment: 0, from: 0, to: 0 };
}

async function endOfLines(path: string, size: number): Promise<number> {
  const file = await open(path, 'r');
  try {
    for (let end = size; end > 0;) {
      const begin = Math.max(0, end - 65_536);
      const found = (await readAt(file, begin, end - begin)).lastIndexOf(NEWLINE);
      if (found >= 0) return begin + found + 1;
      end = begin;
    }
    return 0;
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await file.read(bytes, read, length - read, from + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}

/** Behind as many line breaks, or as there are; 0 where there is none. */
function endOfLine(bytes: Buffer, lines: number): number {
  let end = 0;
  for (let count = 0; count < lines; count += 1) {
    const found = bytes.indexOf(NEWLINE, end);
    if (found < 0) break;
    end = found + 1;
  }
  return end;
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
