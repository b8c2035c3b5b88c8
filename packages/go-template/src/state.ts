import { TemplateFunctionError, TemplateRenderError } from './template-error.ts';
import type { TemplateCall, TemplateEnvironment } from './template-function.ts';
import type { TemplateValue } from './value.ts';

/** What one rendering may use at most. */
export interface TemplateLimits {
  /** UTF-16 units of the result. */
  readonly output: number;
  /** Rounds of all `range` loops together. */
  readonly rounds: number;
}

/** Text made on the way may be this many times as long as the result. */
const WORK_PER_OUTPUT = 8;

/** One rendering under way. */
export class RenderState implements TemplateCall {
  readonly environment: TemplateEnvironment;
  readonly variables: TemplateValue[];
  readonly spend: (size: number) => void;
  readonly #limits: TemplateLimits;
  #out = '';
  #work = 0;
  #rounds = 0;

  constructor(environment: TemplateEnvironment, variables: TemplateValue[], limits: TemplateLimits) {
    this.environment = environment;
    this.variables = variables;
    this.#limits = limits;
    this.spend = (size) => {
      this.#work += size;
      if (this.#work > limits.output * WORK_PER_OUTPUT) throw new TemplateFunctionError('the template makes too much text');
    };
  }

  get output(): string {
    return this.#out;
  }

  write(text: string): void {
    this.#out += text;
    if (this.#out.length > this.#limits.output) {
      const reason = `the result is longer than ${this.#limits.output} characters`;
      throw new TemplateRenderError(reason, reason);
    }
  }

  round(): void {
    this.#rounds += 1;
    if (this.#rounds > this.#limits.rounds) {
      const reason = `more than ${this.#limits.rounds} rounds of range`;
      throw new TemplateRenderError(reason, reason);
    }
  }
}
