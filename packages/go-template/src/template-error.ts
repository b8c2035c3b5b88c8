/** A template that cannot be compiled. The message is Go's: `template: NAME:LINE: what is wrong`. */
export class TemplateSyntaxError extends Error {
  override readonly name = 'TemplateSyntaxError';
  /** What is wrong, without name and line. */
  readonly reason: string;
  readonly line: number;

  constructor(template: string, line: number, reason: string) {
    super(`template: ${template}:${line}: ${reason}`);
    this.reason = reason;
    this.line = line;
  }
}

/**
 * A template that failed with the data given. The message is Go's: `template: NAME:LINE:COLUMN: executing "NAME" at
 * <PART>: what is wrong`; PART is from the template. Unlike Go's, no message shows the data.
 */
export class TemplateRenderError extends Error {
  override readonly name = 'TemplateRenderError';
  /** What is wrong, without name and position. */
  readonly reason: string;

  constructor(message: string, reason: string) {
    super(message);
    this.reason = reason;
  }
}

/** What a function of a template throws when it refuses its arguments; reported as `error calling NAME: …`. */
export class TemplateFunctionError extends Error {
  override readonly name = 'TemplateFunctionError';
}
