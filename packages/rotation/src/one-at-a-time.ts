/** Work that is done for one id at a time, in this process. */
export class OneAtATime {
  readonly #busy: (id: string) => Error;
  readonly #underWay = new Map<string, Promise<unknown>>();

  /** `busy`: what is thrown for an id that is being worked on. */
  constructor(busy: (id: string) => Error) {
    this.#busy = busy;
  }

  /** What is under way for the id, if anything. */
  underWay(id: string): Promise<unknown> | undefined {
    return this.#underWay.get(id);
  }

  /** Waits for what is under way, which is then what was asked for, or begins `work`. */
  async join(id: string, work: () => Promise<unknown>): Promise<void> {
    await (this.#underWay.get(id) ?? this.alone(id, work));
  }

  /** @throws what `busy` makes, while something is under way. */
  async alone<T>(id: string, work: () => Promise<T>): Promise<T> {
    if (this.#underWay.has(id)) throw this.#busy(id);
    const running = work();
    this.#underWay.set(id, running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(id);
    }
  }
}
