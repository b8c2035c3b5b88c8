import type { Server } from './server.ts';
import { recordOf } from './json.ts';

/** Digests of a thing at the source, and here after the import. */
export interface Digests {
  readonly source: string;
  readonly target: string;
}

/** The record that the target keeps of what came from this source. */
export class ImportRecord {
  readonly #target: Server;
  readonly #path: string;
  readonly #address: string;

  constructor(parts: { target: Server; source: string; address: string }) {
    this.#target = parts.target;
    this.#path = `sys/import/${parts.source}`;
    this.#address = parts.address;
  }

  /** For each thing that came before: whether it is as it was then, there and here. */
  async compare(things: ReadonlyMap<string, Digests>): Promise<Map<string, { source: boolean; target: boolean }>> {
    if (things.size === 0) return new Map();
    const answer = await this.#target.write(`${this.#path}/compare`, { objects: Object.fromEntries(things) });
    return new Map(
      Object.entries(recordOf(answer?.['objects'])).map(([name, same]) => {
        const { source, target } = recordOf(same);
        return [name, { source: source === true, target: target === true }];
      }),
    );
  }

  async put(things: ReadonlyMap<string, Digests>): Promise<void> {
    if (things.size > 0) await this.#target.write(this.#path, { address: this.#address, objects: Object.fromEntries(things) });
  }
}
