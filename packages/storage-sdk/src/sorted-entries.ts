import type { Stored } from './driver.ts';

const CHUNK = 512;

interface Chunk {
  readonly keys: string[];
  readonly values: Stored[];
}

interface Position {
  readonly chunk: number;
  readonly index: number;
}

/** Entries in the order of their keys' code units, in chunks: searches take logarithmic time, an insert moves at most one chunk's tail. */
export class SortedEntries {
  readonly #chunks: Chunk[] = [{ keys: [], values: [] }];

  get(key: string): Stored | undefined {
    const { chunk, index } = this.#firstWhere((candidate) => candidate >= key);
    const found = this.#chunks[chunk];
    return found?.keys[index] === key ? found.values[index] : undefined;
  }

  set(key: string, value: Stored): void {
    const at = this.#firstWhere((candidate) => candidate >= key);
    const chunk = this.#chunks[at.chunk] as Chunk;
    if (chunk.keys[at.index] === key) {
      chunk.values[at.index] = value;
      return;
    }
    chunk.keys.splice(at.index, 0, key);
    chunk.values.splice(at.index, 0, value);
    if (chunk.keys.length <= CHUNK) return;
    // Appending is common (times, counters): leave the full chunk full then.
    const cut = at.index === chunk.keys.length - 1 ? at.index : CHUNK / 2;
    this.#chunks.splice(at.chunk + 1, 0, { keys: chunk.keys.splice(cut), values: chunk.values.splice(cut) });
  }

  delete(key: string): void {
    const at = this.#firstWhere((candidate) => candidate >= key);
    const chunk = this.#chunks[at.chunk];
    if (chunk?.keys[at.index] !== key) return;
    chunk.keys.splice(at.index, 1);
    chunk.values.splice(at.index, 1);
    if (chunk.keys.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at.chunk, 1);
  }

  /** Entries from the first key where `begins` holds up to the first where `ends` does. Both must stay true once true in key order. */
  *between(begins: (key: string) => boolean, ends: (key: string) => boolean, reverse: boolean): Generator<[string, Stored]> {
    const from = this.#firstWhere(begins);
    const to = this.#firstWhere(ends);
    const last = reverse ? from.chunk : to.chunk;
    const step = reverse ? -1 : 1;
    for (let c = reverse ? to.chunk : from.chunk; (last - c) * step >= 0; c += step) {
      const { keys, values } = this.#chunks[c] as Chunk;
      const low = c === from.chunk ? from.index : 0;
      const high = c === to.chunk ? to.index : keys.length;
      for (let i = reverse ? high - 1 : low; i >= low && i < high; i += step) yield [keys[i] as string, values[i] as Stored];
    }
  }

  #firstWhere(holds: (key: string) => boolean): Position {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const last = (chunks[middle] as Chunk).keys.at(-1);
      if (last !== undefined && !holds(last)) low = middle + 1;
      else high = middle;
    }
    const { keys } = chunks[low] as Chunk;
    let from = 0;
    let to = keys.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (holds(keys[middle] as string)) to = middle;
      else from = middle + 1;
    }
    return { chunk: low, index: from };
  }
}
