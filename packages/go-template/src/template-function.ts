import type { TemplateValue } from './value.ts';

/** What rendering needs from the world. */
export interface TemplateEnvironment {
  now(): Date;
  /** As many bytes as asked for, from a cryptographic source. */
  randomBytes(count: number): Uint8Array;
  /** A UUID; made of `randomBytes` when absent. */
  uuid?(): string;
}

/** What a function may use besides its arguments. */
export interface TemplateCall {
  readonly environment: TemplateEnvironment;
  /** Called with the size of a result before it is created; throws when rendering has made too much already. */
  readonly spend: (size: number) => void;
}

export type TemplateParameter = 'string' | 'int' | 'any';

/**
 * A function of the template language. A piped value comes as the last argument. Arguments are of the kinds asked for:
 * `string` and `int` are JavaScript strings and whole numbers, `any` is any `TemplateValue`.
 * A `TemplateFunctionError` thrown becomes `error calling NAME: …`.
 */
export interface TemplateFunction {
  readonly parameters: readonly TemplateParameter[];
  /** Any number of further arguments, each of this kind. */
  readonly rest?: TemplateParameter;
  call(args: readonly TemplateValue[], call: TemplateCall): TemplateValue;
}

/** A function of one string. */
export function textFunction(call: (text: string) => string): TemplateFunction {
  return { parameters: ['string'], call: ([text]) => call(text as string) };
}
