import type { Stored } from '@strongroom/storage-sdk';
import { asFailure } from './failure.ts';
import type { Layout } from './layout.ts';
import { ATTEMPT_MS, type Session } from './session.ts';
import { firstOf, get } from './wire.ts';

const MAX_KEYS = 100;
const PARALLEL = 4;
const EMPTY = new Uint8Array(0);

interface Waiting {
  readonly key: string;
  readonly resolve: (stored: Stored | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Single reads that wait share the next transaction. */
export class Reader {
  readonly #session: Session;
  readonly #layout: Layout;
  #queue: Waiting[] = [];
  #running = 0;
  #scheduled = false;

  constructor(session: Session, layout: Layout) {
    this.#session = session;
    this.#layout = layout;
  }

  /** @throws StorageFailure */
  get(key: string): Promise<Stored | undefined> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ key, resolve, reject });
      this.#schedule();
    });
  }

  /** At the end of the turn, so that reads made in it come along. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= PARALLEL) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#running < PARALLEL && this.#queue.length > 0) {
        this.#running += 1;
        void this.#answer(this.#queue.splice(0, MAX_KEYS)).finally(() => {
          this.#running -= 1;
          if (this.#queue.length > 0) this.#schedule();
        });
      }
    });
  }

  async #answer(batch: readonly Waiting[]): Promise<void> {
    const { history } = this.#session;
    try {
      const keys = [...new Set(batch.map(({ key }) => key))];
      const { responses } = await this.#session.read(
        () => keys.map((key) => get(this.#layout.entry(history.state.generation, key))),
        ATTEMPT_MS,
      );
      const found = new Map(keys.map((key, i) => [key, firstOf(responses[i])]));
      for (const { key, resolve } of batch) {
        const entry = found.get(key);
        // Each caller gets bytes of its own, and none keeps the whole answer.
        resolve(entry && { value: new Uint8Array(entry.value ?? EMPTY), version: history.version(entry.mod_revision) });
      }
    } catch (error) {
      for (const { reject } of batch) reject(asFailure(error));
    }
  }
}
