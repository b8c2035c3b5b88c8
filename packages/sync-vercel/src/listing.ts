import type { Variable, VercelApi } from './vercel-api.ts';

/**
 * All variables of a project, for whoever looks for one by its name, which Vercel cannot. Those who ask while a list is being fetched share the
 * next one: each list is begun after it was asked for, so nobody misses what was written before.
 */
export class VariableListing {
  readonly #api: VercelApi;
  readonly #ended = new AbortController();
  #running: Promise<readonly Variable[]> | undefined;
  #next: Promise<readonly Variable[]> | undefined;

  constructor(api: VercelApi) {
    this.#api = api;
  }

  async fetch(): Promise<readonly Variable[]> {
    if (this.#running === undefined) return await this.#begin();
    this.#next ??= this.#running.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return await this.#next;
  }

  /** Cuts off what is being fetched. */
  close(): void {
    this.#ended.abort();
  }

  /** Page by page. */
  async *pages(signal: AbortSignal): AsyncGenerator<readonly Variable[]> {
    let until: number | undefined;
    do {
      const { variables, next } = await this.#api.list(until, signal);
      yield variables;
      until = next;
    } while (until !== undefined);
  }

  #begin(): Promise<readonly Variable[]> {
    this.#next = undefined;
    const running = this.#all().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #all(): Promise<readonly Variable[]> {
    const all: Variable[] = [];
    for await (const page of this.pages(this.#ended.signal)) all.push(...page);
    return all;
  }
}
