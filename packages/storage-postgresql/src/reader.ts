import type { Stored } from '@strongroom/storage-sdk';
import type { Connections } from './connections.ts';
import type { Schema } from './schema.ts';

const MAX_KEYS = 256;

interface Waiting {
  readonly key: string;
  readonly resolve: (stored: Stored | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Single reads that wait for a connection share the next query. */
export class Reader {
  readonly #connections: Connections;
  readonly #schema: Schema;
  readonly #parallel: number;
  #queue: Waiting[] = [];
  #running = 0;

  constructor(connections: Connections, schema: Schema, parallel: number) {
    this.#connections = connections;
    this.#schema = schema;
    this.#parallel = parallel;
  }

  /** @throws StorageFailure */
  get(key: string): Promise<Stored | undefined> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ key, resolve, reject });
      if (this.#running < this.#parallel) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running += 1;
    for (let batch = this.#queue.splice(0, MAX_KEYS); batch.length > 0; batch = this.#queue.splice(0, MAX_KEYS)) await this.#answer(batch);
    this.#running -= 1;
  }

  async #answer(batch: readonly Waiting[]): Promise<void> {
    try {
      const keys = [...new Set(batch.map(({ key }) => key))];
      const rows = await this.#connections.read<{ key: string; value: Buffer; version: string }>(
        () => `SELECT key, value, version FROM ${this.#schema.entries} WHERE key = ANY($1::text[])`,
        [keys],
      );
      const found = new Map(rows.map((row) => [row.key, row]));
      for (const { key, resolve } of batch) {
        const row = found.get(key);
        // Each caller gets bytes of its own.
        resolve(row && { value: new Uint8Array(row.value), version: Number(row.version) });
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
