import { appendFile, readFile, rm } from 'node:fs/promises';
import { ImportStopped } from './failures.ts';
import { isRecord } from './json.ts';
import { nameOf, type Line, type Outcome } from './thing.ts';

/** Outcomes after which a thing needs no further look. */
const DONE: ReadonlySet<Outcome> = new Set(['imported', 'same', 'changed']);

/**
 * What an interrupted import has done, so that the next run need not read it again. The file holds kinds, paths and outcomes, and no content. Losing it loses
 * nothing: the target keeps the record that counts.
 */
export class Checkpoint {
  readonly #file: string | undefined;
  readonly #servers: string;
  readonly #done = new Map<string, Outcome>();
  #empty = true;

  /** `servers` tells one pair of servers from another. Without a file nothing is kept. */
  constructor(file: string | undefined, servers: string) {
    this.#file = file;
    this.#servers = servers;
  }

  /** @throws ImportStopped for the checkpoint of other servers, or another file */
  async open(): Promise<void> {
    if (this.#file === undefined) return;
    const text = await readFile(this.#file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw new ImportStopped(`The checkpoint cannot be read: ${error.message}`);
    });
    const [head = '', ...lines] = text.split('\n');
    if (head === '') return;
    if (head !== this.#head())
      throw new ImportStopped(`${this.#file} is not the checkpoint of an import between these two servers: remove it`);
    this.#empty = false;
    // The last line may be cut.
    for (const line of lines) {
      try {
        const entry = JSON.parse(line) as unknown;
        if (isRecord(entry)) this.#done.set(String(entry['thing']), entry['outcome'] as Outcome);
      } catch {
        continue;
      }
    }
  }

  /** What came of the thing in the interrupted run; undefined if it is to be done. */
  outcome(kind: string, path: string): Outcome | undefined {
    return this.#done.get(nameOf({ kind, path }));
  }

  /** @throws ImportStopped */
  async add(lines: readonly Line[]): Promise<void> {
    const done = lines.filter(({ outcome }) => DONE.has(outcome));
    if (this.#file === undefined || done.length === 0) return;
    const text = done.map((line) => `${JSON.stringify({ thing: nameOf(line), outcome: line.outcome })}\n`).join('');
    try {
      await appendFile(this.#file, this.#empty ? `${this.#head()}\n${text}` : `\n${text}`, { mode: 0o600 });
    } catch (error) {
      throw new ImportStopped(`The checkpoint cannot be written: ${(error as Error).message}`);
    }
    this.#empty = false;
  }

  /** The import is complete. */
  async finish(): Promise<void> {
    if (this.#file !== undefined) await rm(this.#file, { force: true });
  }

  #head(): string {
    return JSON.stringify({ import: this.#servers });
  }
}
