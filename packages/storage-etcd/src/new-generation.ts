import { randomBytes } from 'node:crypto';
import { checkKeys, StorageFailure, type Entry, type Replacement } from '@strongroom/storage-sdk';
import { asFailure, NAME } from './failure.ts';
import { Hold } from './hold.ts';
import { decodeState, encodeState } from './history.ts';
import { removeSpan } from './housekeeping.ts';
import type { Layout } from './layout.ts';
import type { Session } from './session.ts';
import { firstOf, get, isAt, put, type Op } from './wire.ts';

const MOST_BYTES = 2 ** 20;
const ATTEMPT_MS = 10_000;

/** Entries under another generation, which the state names once they are installed. */
export class NewGeneration implements Replacement {
  readonly #session: Session;
  readonly #layout: Layout;
  readonly #generation: string;
  readonly #hold: Hold;
  readonly #most: number;
  #over = false;

  private constructor(session: Session, layout: Layout, generation: string, hold: Hold, most: number) {
    this.#session = session;
    this.#layout = layout;
    this.#generation = generation;
    this.#hold = hold;
    this.#most = most;
  }

  /** `ops`: operations that a transaction may have. @throws StorageFailure */
  static async begin(session: Session, layout: Layout, ops: number): Promise<NewGeneration> {
    const generation = newGeneration();
    try {
      const hold = await Hold.take(session, layout.hold(generation), { generation });
      return new NewGeneration(session, layout, generation, hold, Math.min(ops, 500));
    } catch (error) {
      throw asFailure(error);
    }
  }

  async put(entries: readonly Entry[]): Promise<void> {
    this.#assertGoingOn();
    checkKeys(NAME, { put: entries });
    // Of two puts of one key the later holds: a transaction takes each key once.
    const last = new Map(entries.map(({ key, value }) => [key, value]));
    let [operations, bytes]: [Op[], number] = [[], 0];
    for (const [key, value] of last) {
      if (operations.length === this.#most || (operations.length > 0 && bytes + value.length > MOST_BYTES)) {
        await this.#write(operations, bytes);
        [operations, bytes] = [[], 0];
      }
      operations.push(put(this.#layout.entry(this.#generation, key), value));
      bytes += key.length + value.length;
    }
    if (operations.length > 0) await this.#write(operations, bytes);
  }

  async install(): Promise<void> {
    this.#assertGoingOn();
    const { history } = this.#session;
    const { state: key } = this.#layout;
    try {
      for (;;) {
        const { header, responses } = await this.#session.read(() => [get(key)]);
        const found = decodeState(firstOf(responses[0]));
        const next = encodeState({ ...found, generation: this.#generation });
        // Repeated after a lost answer it finds its own work.
        const request = { compare: [isAt(key, found.revision)], success: [put(key, next), get(key)], failure: [get(key)] };
        const { responses: written, header: at } = await this.#session.once(request, ATTEMPT_MS);
        const now = decodeState(firstOf(written.at(-1)));
        if (now.generation !== this.#generation) continue;
        this.#over = true;
        history.adopt(now, Number(at.revision), true);
        await this.#hold.release();
        if (found.generation !== this.#generation && header.cluster_id === now.cluster)
          await removeSpan(this.#session, this.#layout.generation(found.generation)).catch(() => undefined);
        return;
      }
    } catch (error) {
      throw asFailure(error);
    }
  }

  async discard(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    await removeSpan(this.#session, this.#layout.generation(this.#generation)).catch(() => undefined);
    await this.#hold.release();
  }

  /** May be repeated: nobody else writes there. */
  async #write(operations: readonly Op[], bytes: number): Promise<void> {
    try {
      await this.#session.once({ success: operations }, ATTEMPT_MS + bytes / 1_000);
    } catch (error) {
      throw asFailure(error);
    }
  }

  #assertGoingOn(): void {
    if (this.#over) throw new StorageFailure(NAME, 'the replacement was given up');
  }
}

export function newGeneration(): string {
  return randomBytes(8).toString('hex');
}
