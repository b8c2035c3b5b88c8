import type { OcspStatus } from './ocsp-response.ts';

/** Remembers the last responses until they end: in this process only, and no more than a number of them. */
export class ResponseCache {
  readonly #statuses = new Map<string, OcspStatus & { readonly until: number }>();
  #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  get(key: string, now: number): OcspStatus | undefined {
    const found = this.#statuses.get(key);
    if (!found) return undefined;
    this.#statuses.delete(key);
    if (now >= found.until) return undefined;
    // What was used last is at the end.
    this.#statuses.set(key, found);
    return found;
  }

  put(key: string, { status, until }: OcspStatus): void {
    if (until === undefined) return;
    this.#statuses.delete(key);
    this.#statuses.set(key, { status, until });
    this.#trim();
  }

  /** Forgets everything, and holds so many from now on. */
  resize(size: number): void {
    this.#size = size;
    this.#statuses.clear();
  }

  #trim(): void {
    for (const oldest of this.#statuses.keys()) {
      if (this.#statuses.size <= this.#size) return;
      this.#statuses.delete(oldest);
    }
  }
}
