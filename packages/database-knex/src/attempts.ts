import { StatementFailed } from '@strongroom/database-sdk';
import type { ServerAnswers } from './server-answers.ts';

/** Steps that are tried one by one, so that one that the database refuses keeps no other from being done. */
export class Attempts {
  readonly #answers: Pick<ServerAnswers, 'errorText' | 'refusal'>;
  readonly #failures: string[] = [];

  constructor(answers: Pick<ServerAnswers, 'errorText' | 'refusal'>) {
    this.#answers = answers;
  }

  /** Rejects where the connection is of no further use. `harmless`: the code of a refusal that is as good as success. */
  async try(step: Promise<unknown>, harmless?: string): Promise<void> {
    try {
      await step;
    } catch (error) {
      const refusal = this.#answers.refusal(error);
      if (refusal === undefined) throw error;
      if (refusal !== harmless) this.#failures.push(this.#answers.errorText(error));
    }
  }

  /** @throws StatementFailed where a step was refused */
  check(prefix: string): void {
    if (this.#failures.length > 0) throw new StatementFailed(this.#failures.join('; '), { prefix });
  }
}
