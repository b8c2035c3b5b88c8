/** The whole import cannot go on: a sentence for people. */
export class ImportStopped extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImportStopped';
  }
}

/** A server refused one call. `errors` are its own texts. */
export class CallRefused extends Error {
  readonly role: 'source' | 'target';
  readonly status: number;
  readonly errors: readonly string[];

  constructor(who: 'source' | 'target', path: string, status: number, errors: readonly string[]) {
    super(`the ${who} answered ${status} to ${path}${errors.length > 0 ? `: ${errors.join('; ').trim()}` : ''}`);
    this.name = 'CallRefused';
    this.role = who;
    this.status = status;
    this.errors = errors;
  }
}
