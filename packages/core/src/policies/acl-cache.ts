import type { Acl } from './acl.ts';

interface Entry {
  readonly acl: Acl;
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly validUntil: number;
}

/** Compiled sets of policies, the least used ones dropped first. */
export class AclCache {
  readonly #entries = new Map<string, Entry>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string, now: number): Acl | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    if (now >= entry.validUntil) return undefined;
    this.#entries.set(key, entry);
    return entry.acl;
  }

  set(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#capacity) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }

  /** Drops every set that has this policy, or names it and had to do without. */
  dropPolicy(name: string): void {
    for (const [key, entry] of this.#entries) if (entry.names.includes(name)) this.#entries.delete(key);
  }
}
