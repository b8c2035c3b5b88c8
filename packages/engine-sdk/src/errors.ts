/**
 * The error catalogue. A class means a status; the text reaches the caller word for word, so it never holds a secret.
 * `form` is how the wire prints the text: plain, or as the one-item list that clients of the incumbents know
 * (`1 error occurred:\n\t* text\n\n`).
 */
export type ErrorForm = 'plain' | 'listed';

/** The error of a request: its class decides the status, and its text reaches the caller. */
export class EngineError extends Error {
  readonly status: number = 500;
  readonly form: ErrorForm = 'listed';
  /** Sent as `data` beside `errors`, where the answer of a failed call carries something of use. */
  readonly data?: unknown;
  /** Response headers, such as Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;

  constructor(message: string, options?: { cause?: unknown; data?: unknown; headers?: Readonly<Record<string, string>> }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    if (options?.data !== undefined) this.data = options.data;
    if (options?.headers !== undefined) this.headers = options.headers;
  }

  /** The texts of the wire's `errors` list; an empty message gives an empty list. */
  get errors(): string[] {
    if (this.message === '') return [];
    return [this.form === 'plain' ? this.message : listed(this.message)];
  }
}

/** The caller's mistake. The text names the field and says what would be right. */
export class BadRequest extends EngineError {
  override readonly status = 400;
  override readonly form: ErrorForm = 'plain';
}

/** A caller's mistake that the incumbents print in list form; same status as BadRequest. */
export class InvalidRequest extends EngineError {
  override readonly status = 400;
}

/** No token, or one that is unknown, expired or used up. */
export class TokenRefused extends EngineError {
  override readonly status = 403;
  override readonly form = 'plain' as const;
  constructor(message = 'permission denied') {
    super(message);
  }
}

/** A good token whose policies do not allow the call. */
export class PermissionDenied extends EngineError {
  override readonly status = 403;
  constructor(message = 'permission denied', options?: { cause?: unknown }) {
    super(message, options);
  }
}

/** Nothing is there. Without a text the wire says `{"errors":[]}`, which clients read as "no value". */
export class NotFound extends EngineError {
  override readonly status = 404;
  override readonly form: ErrorForm = 'plain';
  constructor(message = '', options?: { cause?: unknown; data?: unknown }) {
    super(message, options);
  }
}

/** There is no such path. 404. */
export class UnsupportedPath extends EngineError {
  override readonly status = 404;
  constructor(message = 'unsupported path') {
    super(message);
  }
}

/** The path has no such operation. 405. */
export class UnsupportedOperation extends EngineError {
  override readonly status = 405;
  constructor(message = 'unsupported operation') {
    super(message);
  }
}

/** The body exceeds a limit. 413. */
export class BodyTooLarge extends EngineError {
  override readonly status = 413;
  override readonly form = 'plain' as const;
}

/** The body is of a media type that the path does not take. 415. */
export class UnsupportedMediaType extends EngineError {
  override readonly status = 415;
  override readonly form = 'plain' as const;
}

/** The caller asks too often; `headers` may carry Retry-After. */
export class TooManyRequests extends EngineError {
  override readonly status = 429;
  override readonly form = 'plain' as const;
}

/** An outside system (a database, a directory, a cloud) failed. The text names it and never holds its password. */
export class UpstreamFailed extends EngineError {
  override readonly status: number = 500;
  /** The system answered, and refused: it is there, and a circuit breaker does not count this. */
  readonly answered: boolean = false;
}

/** An outside system refused because we ask too often. */
export class UpstreamLimited extends UpstreamFailed {
  override readonly status = 502;
}

/** The server cannot serve this now: sealed, or a mount whose plugin is quarantined. */
export class Unavailable extends EngineError {
  override readonly status = 503;
  override readonly form: ErrorForm = 'plain';
}

/** A fault of our own. What the caller sees is this text; the cause goes to the log. */
export class InternalError extends EngineError {
  constructor(message = 'internal error', options?: { cause?: unknown }) {
    super(message, options);
  }
}

/** `1 error occurred:\n\t* a\n\n`, the incumbents' list form. */
export function listed(...texts: string[]): string {
  const head = texts.length === 1 ? '1 error occurred:' : `${texts.length} errors occurred:`;
  return `${head}\n${texts.map((text) => `\t* ${text}\n`).join('')}\n`;
}
