/**
 * The error catalogue. Each class has a status. The text reaches the caller unchanged, so it never contains a secret.
 * `form` is how the wire prints the text: plain, or as the one-item list that clients of Vault and OpenBao know
 * (`1 error occurred:\n\t* text\n\n`).
 */
export type ErrorForm = 'plain' | 'listed';

/** The error of a request: its class decides the status, and its text reaches the caller. */
export class EngineError extends Error {
  readonly status: number = 500;
  readonly form: ErrorForm = 'listed';
  /** Sent as `data` beside `errors`, for failed calls whose response carries something useful. */
  readonly data?: unknown;
  /** Response headers, such as Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;

  constructor(message: string, options?: { cause?: unknown; data?: unknown; headers?: Readonly<Record<string, string>> }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    if (options?.data !== undefined) this.data = options.data;
    if (options?.headers !== undefined) this.headers = options.headers;
  }

  /** The texts of `errors` in the response. An empty message gives an empty list. */
  get errors(): string[] {
    if (this.message === '') return [];
    return [this.form === 'plain' ? this.message : listed(this.message)];
  }
}

/** The caller made a mistake. The text names the field and says what is valid. */
export class BadRequest extends EngineError {
  override readonly status = 400;
  override readonly form: ErrorForm = 'plain';
}

/** A mistake of the caller that Vault and OpenBao report in list form. Same status as BadRequest. */
export class InvalidRequest extends EngineError {
  override readonly status = 400;
}

/** There is no token, or it is unknown, expired or used up. */
export class TokenRefused extends EngineError {
  override readonly status = 403;
  override readonly form = 'plain' as const;
  constructor(message = 'permission denied') {
    super(message);
  }
}

/** The token is valid, but its policies do not allow the call. */
export class PermissionDenied extends EngineError {
  override readonly status = 403;
  constructor(message = 'permission denied', options?: { cause?: unknown }) {
    super(message, options);
  }
}

/** Nothing exists there. Without a text the response is `{"errors":[]}`, which clients read as "no value". */
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

/** The caller sends too many requests. `headers` may contain Retry-After. */
export class TooManyRequests extends EngineError {
  override readonly status = 429;
  override readonly form = 'plain' as const;
}

/** An outside system (a database, a directory, a cloud) failed. The text names it and never contains its password. */
export class UpstreamFailed extends EngineError {
  override readonly status: number = 500;
  /** The system answered, and refused. It is reachable, so a circuit breaker does not count this as a failure. */
  readonly answered: boolean = false;
}

/** An outside system refused because it received too many requests. */
export class UpstreamLimited extends UpstreamFailed {
  override readonly status = 502;
}

/** The server cannot serve the call now: it is sealed, or the plugin of the mount is quarantined. */
export class Unavailable extends EngineError {
  override readonly status = 503;
  override readonly form: ErrorForm = 'plain';
}

/** A fault of the server. The caller sees the text; the cause goes to the log. */
export class InternalError extends EngineError {
  constructor(message = 'internal error', options?: { cause?: unknown }) {
    super(message, options);
  }
}

/** The list form of Vault and OpenBao: `1 error occurred:\n\t* a\n\n`. */
export function listed(...texts: string[]): string {
  const head = texts.length === 1 ? '1 error occurred:' : `${texts.length} errors occurred:`;
  return `${head}\n${texts.map((text) => `\t* ${text}\n`).join('')}\n`;
}
