import type { Acl } from './acl.ts';
import type { TemplateContext } from './template.ts';

interface Entry {
  readonly acl: Acl;
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly validUntil: number;
  /** What the paths were filled in from; counts only as long as it is the same object. */
  readonly context: TemplateContext | undefined;
}

/** Compiled sets of policies, the least used ones dropped first. */
export class AclCache {
  readonly #entries = new Map<string, Entry>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string, now: number, context: TemplateContext | undefined): Acl | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (now >= entry.validUntil || entry.context !== context) {
      this.#entries.delete(key);
      return undefined;
    }
    // Only a full cache needs to know what was used last.
    if (this.#entries.size * 2 > this.#capacity) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry.acl;
  }

  set(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#capacity) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Drops every set that has this policy, or names it and had to do without. */
  dropPolicy(name: string): void {
    for (const [key, entry] of this.#entries) if (entry.names.includes(name)) this.#entries.delete(key);
  }
}
