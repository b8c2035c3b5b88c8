import { Type } from 'typebox';
import type { Collection, StorageView } from '@strongroom/engine-sdk';

const HeaderRule = Type.Object({ hmac: Type.Boolean() });
export type HeaderRule = { hmac: boolean };

/** Lower-case header name to rule. */
export type HeaderRules = ReadonlyMap<string, HeaderRule>;

const PREFIX = 'header/';

/** Which request headers the audit devices write. None by default. */
export class AuditedHeaders {
  readonly #records: Collection<HeaderRule>;
  readonly #rules = new Map<string, HeaderRule>();

  constructor(storage: StorageView) {
    this.#records = storage.collection(PREFIX, HeaderRule, { cached: true });
  }

  /** What stands now; the same map, changed in place. */
  get rules(): HeaderRules {
    return this.#rules;
  }

  /** Reads all of them, after unsealing. */
  async load(): Promise<void> {
    this.#rules.clear();
    for (const [name, rule] of await this.#records.entries()) this.#rules.set(name, rule);
  }

  async put(name: string, rule: HeaderRule): Promise<void> {
    const key = name.toLowerCase();
    await this.#records.put(key, rule);
    this.#rules.set(key, rule);
  }

  /** Removing what is not there succeeds. */
  async delete(name: string): Promise<void> {
    const key = name.toLowerCase();
    await this.#records.delete(key);
    this.#rules.delete(key);
  }

  /** Another process changed this key of the view. */
  async refresh(key: string): Promise<void> {
    if (!key.startsWith(PREFIX)) return;
    const name = key.slice(PREFIX.length);
    const rule = await this.#records.get(name);
    if (rule) this.#rules.set(name, rule);
    else this.#rules.delete(name);
  }
}
