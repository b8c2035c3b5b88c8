import type { History } from './history.ts';
import type { NodeClient } from './node-client.ts';

/** One call of one client, through a node of its choice. */
export interface Step {
  readonly client: number;
  /** For what is recorded. */
  readonly node: NodeClient;
  readonly history: History;
  readonly rootToken: string;
  readonly random: () => number;
}

/** One kind of objects, and what clients do with them. */
export interface Scenario {
  readonly name: string;
  /** Once, before anything is recorded. @throws Error where it cannot be set up */
  prepare?(node: NodeClient, rootToken: string): Promise<void>;
  step(step: Step): Promise<void>;
  close?(): Promise<void>;
}

interface Held<T> {
  readonly object: T;
  left: number;
}

/** A few objects that clients share; each is retired after a number of uses, and a new one takes its place. */
export class SharedObjects<T> {
  readonly #held: (Held<T> | undefined)[];
  readonly #uses: number;
  readonly #make: (step: Step) => Promise<T | undefined>;

  /** `make` resolves with undefined where an object could not be made: the client does something else then. */
  constructor({ count, uses, make }: { count: number; uses: number; make: (step: Step) => Promise<T | undefined> }) {
    this.#held = Array.from({ length: count }, () => undefined);
    this.#uses = uses;
    this.#make = make;
  }

  async take(step: Step): Promise<T | undefined> {
    const place = Math.floor(step.random() * this.#held.length);
    let held = this.#held[place];
    if (held === undefined || held.left === 0) {
      const object = await this.#make(step);
      if (object === undefined) return undefined;
      held = { object, left: this.#uses };
      this.#held[place] = held;
    }
    held.left -= 1;
    return held.object;
  }

  /** Whatever the object says from now on is not worth the work of its check. */
  retire(object: T): void {
    const place = this.#held.findIndex((held) => held?.object === object);
    if (place >= 0) this.#held[place] = undefined;
  }
}

let made = 0;
/** A name that nothing else in this run has. */
export function newName(kind: string): string {
  made += 1;
  return `${kind}-${made}`;
}
