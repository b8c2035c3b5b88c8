import { BadRequest, type Collection, type ListQuery } from '@strongroom/engine-sdk';
import { inScope, rankOf, sameScope, type QuotaScope, type QuotaSubject } from './quota-scope.ts';

/** The rules of one kind of quota: stored by name, and held in memory, since every request asks for them. */
export class QuotaRules<R extends { readonly scope: QuotaScope }> {
  readonly #records: Collection<R>;
  #rules: ReadonlyMap<string, R> = new Map();
  /** Called with the name of each rule that was written or deleted. */
  readonly #changed: (name: string) => void;

  constructor(records: Collection<R>, changed: (name: string) => void) {
    this.#records = records;
    this.#changed = changed;
  }

  /** After unsealing, and whenever another process changed a rule. */
  async load(): Promise<void> {
    let before: ReadonlyMap<string, R>;
    let stored: ReadonlyMap<string, R>;
    do {
      before = this.#rules;
      stored = new Map(await this.#records.entries());
      // What this process wrote while it read may be missing in what it read.
    } while (before !== this.#rules);
    this.#rules = stored;
    for (const name of new Set([...before.keys(), ...this.#rules.keys()])) {
      if (JSON.stringify(before.get(name)) !== JSON.stringify(this.#rules.get(name))) this.#changed(name);
    }
  }

  get empty(): boolean {
    return this.#rules.size === 0;
  }

  all(): Iterable<[name: string, rule: R]> {
    return this.#rules;
  }

  get(name: string): R | undefined {
    return this.#rules.get(name);
  }

  async list(query?: ListQuery): Promise<string[]> {
    return this.#records.list(query);
  }

  /** @throws BadRequest if another rule has the same scope */
  async put(name: string, rule: R): Promise<void> {
    const other = [...this.#rules].find(([known, { scope }]) => known !== name && sameScope(scope, rule.scope));
    if (other) throw new BadRequest(`quota rule with similar properties exists under the name ${JSON.stringify(other[0])}`);
    await this.#records.put(name, rule);
    this.#rules = new Map([...this.#rules, [name, rule]]);
    this.#changed(name);
  }

  async delete(name: string): Promise<void> {
    await this.#records.delete(name);
    const rest = new Map(this.#rules);
    rest.delete(name);
    this.#rules = rest;
    this.#changed(name);
  }

  /** After an unmount: a mount at the same path later is another one. */
  async forgetMount(mount: string): Promise<void> {
    for (const [name, { scope }] of this.#rules) if (scope.mount === mount) await this.delete(name);
  }

  /** Whether some rule for roles of the mount needs to know the role of a request. */
  asksRole(mount: string): boolean {
    for (const { scope } of this.#rules.values()) if (scope.role !== '' && scope.mount === mount) return true;
    return false;
  }

  /** The rules whose scope contains the request, the most specific first. */
  matching(subject: QuotaSubject): [name: string, rule: R][] {
    return [...this.#rules]
      .filter(([, { scope }]) => inScope(scope, subject))
      .sort(([, a], [, b]) => rankOf(b.scope) - rankOf(a.scope) || 0);
  }
}
