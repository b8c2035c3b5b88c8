import type { CoreEvent } from './core-event.ts';
import type { Position } from './position.ts';

/** Events that are kept for those who come back. */
export const CAPACITY = 8_192;

/** One event in the order in which this server learnt of it. */
export interface LogEntry {
  /** The life of the server where it happened, and its number there: the first is 1, and none is left out. */
  readonly life: string;
  readonly number: number;
  /** Undefined: up to here, events of that life may be missing. */
  readonly event: CoreEvent | undefined;
}

/**
 * The last events of all servers of the store, in memory. The events of one life are in order and complete, or say where something is missing. Those of
 * several are in the order in which they arrived here.
 */
export class EventLog {
  readonly #capacity: number;
  #entries: LogEntry[] = [];
  /** Where in `#entries` the oldest is; what is before it has been forgotten. */
  #first = 0;
  /** By life, the last number that is known. */
  readonly #last = new Map<string, number>();
  /** By life, the last number that has been forgotten; absent for none. */
  readonly #forgotten = new Map<string, number>();
  readonly #listeners = new Set<(entry: LogEntry) => void>();

  constructor(capacity = CAPACITY) {
    this.#capacity = capacity;
  }

  /** The last number of a life that is known; 0 for none. */
  last(life: string): number {
    return this.#last.get(life) ?? 0;
  }

  get position(): Position {
    return new Map(this.#last);
  }

  /** Numbers that are known already are passed over; a number that leaves some out says first that they are missing. */
  append(entry: LogEntry): void {
    const { life, number } = entry;
    const known = this.#last.get(life);
    if (known !== undefined && number <= known) return;
    if (known === undefined && number > 1) this.#forgotten.set(life, number - 1);
    else if (number > (known ?? 0) + 1 && entry.event) this.append({ life, number: number - 1, event: undefined });
    this.#last.set(life, number);
    this.#entries.push(entry);
    this.#shorten();
    for (const listener of this.#listeners) listener(entry);
  }

  /** What somebody at that position does not know yet; undefined where some of it has been forgotten, or the position is of another store. */
  since(position: Position): LogEntry[] | undefined {
    for (const [life, number] of position) if (number > this.last(life)) return undefined;
    for (const [life, number] of this.#forgotten) if ((position.get(life) ?? 0) < number) return undefined;
    return this.#entries.slice(this.#first).filter(({ life, number }) => number > (position.get(life) ?? 0));
  }

  /** Hears of every entry from now on; the result ends that. The listener must not throw. */
  listen(listener: (entry: LogEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A life whose events nobody can ask for any more. */
  drop(life: string): void {
    this.#last.delete(life);
    this.#forgotten.delete(life);
    this.#entries = this.#entries.slice(this.#first).filter((entry) => entry.life !== life);
    this.#first = 0;
  }

  /** At seal. */
  clear(): void {
    this.#entries = [];
    this.#first = 0;
    this.#last.clear();
    this.#forgotten.clear();
  }

  #shorten(): void {
    if (this.#entries.length - this.#first <= this.#capacity) return;
    const { life, number } = this.#entries[this.#first]!;
    this.#forgotten.set(life, number);
    this.#first += 1;
    if (this.#first < this.#capacity) return;
    this.#entries = this.#entries.slice(this.#first);
    this.#first = 0;
  }
}
