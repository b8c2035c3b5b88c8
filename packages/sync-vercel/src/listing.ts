import { ClientSideError, ExternalServiceError } from '@strongroom/sync-sdk';
import type { Variable, VercelApi } from './vercel-api.ts';

/**
 * All variables of a project, for whoever looks for one by its name, which Vercel cannot. Those who ask while a list is being fetched share the
 * next one: each list is begun after it was asked for, so nobody misses what was written before.
 */
export class VariableListing {
  readonly #api: VercelApi;
  readonly #targets: readonly string[];
  readonly #ended = new AbortController();
  #running: Promise<readonly Variable[]> | undefined;
  #next: Promise<readonly Variable[]> | undefined;

  constructor(api: VercelApi, targets: readonly string[]) {
    this.#api = api;
    this.#targets = targets;
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

  /** Page by page. A list that leaves variables of production out would make taken names look free, and ours look gone. */
  async *pages(signal: AbortSignal): AsyncGenerator<readonly Variable[]> {
    let until: number | undefined;
    do {
      const { variables, next, hiddenInProduction } = await this.#api.list(until, signal);
      if (hiddenInProduction > 0 && this.#targets.includes('production')) {
        const text = `access_token may not see ${hiddenInProduction} of the variables of production: give its owner a role that may`;
        throw new ClientSideError(text, { providerCode: 'hidden_variables' });
      }
      yield variables;
      if (next !== undefined && until !== undefined && next >= until) throw new ExternalServiceError('Vercel answers the same page again');
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
