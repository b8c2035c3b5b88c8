import { StatementFailed } from '@strongroom/database-sdk';

/** Steps that are tried one by one, so that one that the database refuses keeps no other from being done. */
export class Attempts {
  readonly #textOf: (refused: unknown) => string | undefined;
  readonly #failures: string[] = [];

  /** `textOf`: what a refusal says; undefined for an error after which nothing more can be tried. */
  constructor(textOf: (refused: unknown) => string | undefined) {
    this.#textOf = textOf;
  }

  async try(step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (error) {
      const text = this.#textOf(error);
      if (text === undefined) throw error;
      this.#failures.push(text);
    }
  }

  /** @throws StatementFailed where a step was refused */
  check(prefix: string): void {
    if (this.#failures.length > 0) throw new StatementFailed(this.#failures.join('; '), { prefix });
  }
}
