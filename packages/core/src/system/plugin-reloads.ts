import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

export interface ReloadOutcome {
  readonly node: string;
  /** RFC 3339. */
  readonly timestamp: string;
  /** '' when it went well. */
  readonly error: string;
}

export type ReloadTarget = { plugin?: string; mounts?: readonly string[] };

const KEPT = 100;

/** Runs reloads and remembers how the latest ones went. */
export class PluginReloads {
  readonly #reload: (what: ReloadTarget) => Promise<void>;
  readonly #outcomes = new Map<string, ReloadOutcome>();

  constructor(reload: (what: ReloadTarget) => Promise<void>) {
    this.#reload = reload;
  }

  /** The id of the reload. @throws what the reload throws; the outcome is kept all the same. */
  async run(what: ReloadTarget): Promise<string> {
    const id = randomUUID();
    let error = '';
    try {
      await this.#reload(what);
    } catch (thrown) {
      error = (thrown as Error).message;
      throw thrown;
    } finally {
      this.#keep(id, error);
    }
    return id;
  }

  outcome(id: string): ReloadOutcome | undefined {
    return this.#outcomes.get(id);
  }

  #keep(id: string, error: string): void {
    this.#outcomes.set(id, { node: hostname(), timestamp: new Date().toISOString(), error });
    for (const oldest of this.#outcomes.keys()) {
      if (this.#outcomes.size <= KEPT) break;
      this.#outcomes.delete(oldest);
    }
  }
}
