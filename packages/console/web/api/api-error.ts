/** An answer that is no success, or none at all (`status` 0: the server could not be reached). */
export class ApiError extends Error {
  readonly status: number;
  /** The server's own sentences. */
  readonly errors: readonly string[];
  readonly method: string;
  /** Below `/v1/`. */
  readonly path: string;
  readonly requestId: string | undefined;
  /** Seconds after which another try makes sense. */
  readonly retryAfter: number | undefined;
  readonly at: Date;
  /** The body, where it holds more than errors. */
  readonly body: unknown;

  constructor(facts: {
    readonly status: number;
    readonly errors: readonly string[];
    readonly method: string;
    readonly path: string;
    readonly requestId?: string | undefined;
    readonly retryAfter?: number | undefined;
    readonly body?: unknown;
  }) {
    super(facts.errors.join('; ') || `the server answered ${facts.status}`);
    this.name = 'ApiError';
    this.status = facts.status;
    this.errors = facts.errors;
    this.method = facts.method;
    this.path = facts.path;
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
    this.body = facts.body;
    this.at = new Date();
  }
}
