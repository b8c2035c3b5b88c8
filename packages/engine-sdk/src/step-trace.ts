import type { Clock } from './clock.ts';
import type { EngineError } from './errors.ts';
import { Type, type TProperties } from 'typebox';

/** How one step of a login or of a test went. `Facts` is what the operator may know of it; never a secret. */
export type StepReport<Step extends string, Facts extends object> = Facts & {
  readonly step: Step;
  readonly ok: boolean;
  readonly milliseconds: number;
  /** Why it failed. */
  readonly error?: string;
  /** True if an outside system or the configuration is to blame, false if it is what the caller sent. */
  readonly fault?: boolean;
};

/** The answer of `config/test`: its steps, and what `more` names of what would succeed. */
export function testReport<F extends TProperties>(more: F) {
  const step = Type.Object(
    {
      step: Type.String(),
      ok: Type.Boolean(),
      milliseconds: Type.Number(),
      error: Type.Optional(Type.String({ description: 'Why it failed.' })),
      fault: Type.Optional(
        Type.Boolean({ description: 'True if an outside system or the configuration is to blame, false if it is what the caller sent.' }),
      ),
    },
    { additionalProperties: true, description: 'With what is known of the step.' },
  );
  return Type.Object({ ok: Type.Boolean(), steps: Type.Array(step), ...more });
}

/** A step of a test failed, and its trace has reported it: the test ends. `cause` is what went wrong. */
export class StepFailed extends Error {
  constructor(step: string, reason: unknown) {
    super(`the step ${step} failed`, { cause: reason });
  }
}

/** Walks the steps of a test up to the first that fails. Resolves with undefined if one did. @throws what the walk throws besides StepFailed */
export async function untilStepFails<T>(walk: () => Promise<T>): Promise<T | undefined> {
  try {
    return await walk();
  } catch (error) {
    if (error instanceof StepFailed) return undefined;
    throw error;
  }
}

/** What `take` of a trace needs besides the step. */
export interface StepTaking<T, Facts extends object> {
  /** What is known of a step that passed. */
  readonly facts?: (result: T) => Facts;
  /** What to report of an error. It throws what is no failure of the step, such as a bug of ours or the end of the request. */
  readonly reasonFor: (error: unknown) => unknown;
}

/** Reports to an observer how each step of a login or of a test went: to the answer of `config/test`, or to the log. */
export class StepTrace<Step extends string, Facts extends object = Record<never, never>> {
  readonly #clock: Clock;
  readonly #observe: (report: StepReport<Step, Facts>) => void;
  readonly #meaning: (reason: unknown) => Partial<Facts>;

  /** `meaning` adds what is known of a reason, such as what a directory means by a code. */
  constructor(clock: Clock, observe: (report: StepReport<Step, Facts>) => void, meaning: (reason: unknown) => Partial<Facts> = () => ({})) {
    this.#clock = clock;
    this.#observe = observe;
    this.#meaning = meaning;
  }

  /** Milliseconds, for `since` of the step that begins now. */
  start(): number {
    return this.#clock.millis();
  }

  passed(step: Step, since: number, facts: Facts = {} as Facts): void {
    this.took(step, this.#clock.millis() - since, facts);
  }

  took(step: Step, milliseconds: number, facts: Facts = {} as Facts): void {
    this.#observe({ step, ok: true, milliseconds, ...facts });
  }

  /** Takes a step and reports how it went. @throws StepFailed, and what `reasonFor` throws */
  async take<T>(step: Step, work: () => T | Promise<T>, { facts, reasonFor }: StepTaking<T, Facts>): Promise<T> {
    const since = this.start();
    let result: T;
    try {
      result = await work();
    } catch (error) {
      throw this.stopped(step, since, {} as Facts, reasonFor(error));
    }
    this.passed(step, since, facts?.(result));
    return result;
  }

  /** As `failed`, for a test that does not say who is to blame. */
  stopped(step: Step, since: number, facts: Facts, reason: unknown): StepFailed {
    this.#observeFailure(step, since, facts, reason, {});
    return new StepFailed(step, reason);
  }

  /** The observer hears what really went wrong; the caller gets `answer`. */
  failed(step: Step, since: number, facts: Facts, reason: unknown, answer: EngineError): EngineError {
    this.#observeFailure(step, since, facts, reason, { fault: answer.status >= 500 });
    return answer;
  }

  #observeFailure(step: Step, since: number, facts: Facts, reason: unknown, blame: { fault?: boolean }): void {
    const error = reason instanceof Error ? reason.message : String(reason);
    const milliseconds = this.#clock.millis() - since;
    this.#observe({ step, ok: false, milliseconds, ...facts, error, ...this.#meaning(reason), ...blame });
  }
}
