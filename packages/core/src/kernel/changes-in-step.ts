import type { Siblings } from './siblings.ts';

const TOPIC = 'changes';
/** Milliseconds that an answer waits at most until the other processes have applied a change. */
const PATIENCE = 1_000;

/**
 * The processes of one server apply each other's changes before the request that made them is answered: a client with several connections finds a mount that it
 * has just made, and no policy that it has just deleted. Servers that merely share a store hear a moment later, from the store.
 */
export class ChangesInStep {
  readonly #siblings: Siblings;
  readonly #underWay = new Set<Promise<void>>();
  #matters: (key: string) => boolean = () => true;

  constructor(siblings: Siblings) {
    this.#siblings = siblings;
  }

  /** How this process applies the changes of the others. For keys that do not `matter`, nobody waits. */
  applyBy(apply: (keys: readonly string[]) => Promise<void>, matters: (key: string) => boolean): void {
    this.#matters = matters;
    this.#siblings.answer<readonly string[]>(TOPIC, apply);
  }

  /** A commit has changed these keys. */
  made(changed: readonly string[]): void {
    if (this.#siblings.running <= 1) return;
    const keys = changed.filter((key) => this.#matters(key));
    if (keys.length === 0) return;
    const telling = this.#tell(keys).finally(() => this.#underWay.delete(telling));
    this.#underWay.add(telling);
  }

  /** Resolves when the others have applied what was changed until now; undefined where they have. */
  get applied(): Promise<unknown> | undefined {
    return this.#underWay.size === 0 ? undefined : Promise.all(this.#underWay);
  }

  async #tell(keys: readonly string[]): Promise<void> {
    await this.#siblings.ask(TOPIC, keys, PATIENCE);
  }
}
