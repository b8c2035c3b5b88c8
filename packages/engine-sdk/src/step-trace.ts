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

  /** The observer hears what really went wrong; the caller gets `answer`. */
  failed(step: Step, since: number, facts: Facts, reason: unknown, answer: EngineError): EngineError {
    const error = reason instanceof Error ? reason.message : String(reason);
    const milliseconds = this.#clock.millis() - since;
    this.#observe({ step, ok: false, milliseconds, ...facts, error, ...this.#meaning(reason), fault: answer.status >= 500 });
    return answer;
  }
}
