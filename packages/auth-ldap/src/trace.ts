import type { Clock, EngineError } from '@strongroom/engine-sdk';
import { refusalReason } from './bind-refusal.ts';

export type Step =
  'connect' | 'tls' | 'service bind' | 'user search' | 'user bind' | 'user name search' | 'group search' | 'alias' | 'account' | 'policies';

/** What the operator may know of a step; never a password. */
export interface Facts {
  /** The server that answered. */
  readonly url?: string;
  /** The name that was bound. */
  readonly name?: string;
  readonly base?: string;
  readonly filter?: string;
  /** Entries, groups or policies found. */
  readonly count?: number;
  /** Of TLS, such as `TLSv1.3`. */
  readonly protocol?: string;
  /** What the directory means by its refusal, where it says so. */
  readonly reason?: string;
}

export interface StepReport extends Facts {
  readonly step: Step;
  readonly ok: boolean;
  readonly milliseconds: number;
  /** Why it failed. */
  readonly error?: string;
  /** True when the directory or the configuration is to blame, false when it is what the user sent. */
  readonly fault?: boolean;
}

/** Tells an observer how each step of a login went. */
export class Trace {
  readonly #clock: Clock;
  readonly #observe: (report: StepReport) => void;

  constructor(clock: Clock, observe: (report: StepReport) => void) {
    this.#clock = clock;
    this.#observe = observe;
  }

  start(): number {
    return this.#clock.millis();
  }

  passed(step: Step, since: number, facts: Facts = {}): void {
    this.took(step, this.#clock.millis() - since, facts);
  }

  took(step: Step, milliseconds: number, facts: Facts = {}): void {
    this.#observe({ step, ok: true, milliseconds, ...facts });
  }

  /** The observer hears what really went wrong; the caller gets `answer`. */
  failed(step: Step, since: number, facts: Facts, reason: unknown, answer: EngineError): EngineError {
    const error = reason instanceof Error ? reason.message : String(reason);
    const meaning = refusalReason(reason);
    const more = meaning === undefined ? {} : { reason: meaning };
    this.#observe({ step, ok: false, milliseconds: this.#clock.millis() - since, ...facts, error, ...more, fault: answer.status >= 500 });
    return answer;
  }
}
