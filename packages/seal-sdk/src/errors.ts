/** What went wrong, for hosts: error classes may come from another copy of this package, so decide by `code`. */
export type SealErrorCode =
  | 'seal_settings_invalid'
  | 'seal_unavailable'
  | 'seal_throttled'
  | 'seal_permission_denied'
  | 'seal_wrong_key'
  | 'seal_closed';

/** What the service said with the error, for its support. */
export interface SealErrorOptions extends ErrorOptions {
  /** The service's own code: `ThrottlingException`, `7 PERMISSION_DENIED`, `403`, `CKR_PIN_INCORRECT`. */
  readonly serviceCode?: string | undefined;
  /** What the service's support asks for. */
  readonly requestId?: string | undefined;
}

/** Base of all errors of seals. The message reaches the log and operators, so it holds neither a credential nor a key. */
export class SealError extends Error {
  readonly code: SealErrorCode;
  readonly serviceCode?: string;
  readonly requestId?: string;

  constructor(code: SealErrorCode, message: string, options?: SealErrorOptions) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    if (options?.serviceCode !== undefined) this.serviceCode = options.serviceCode;
    if (options?.requestId !== undefined) this.requestId = options.requestId;
  }
}

/** The settings cannot work, whatever the service says. Only from `open`: the server does not start. */
export class SealSettingsInvalid extends SealError {
  constructor(message: string, options?: SealErrorOptions) {
    super('seal_settings_invalid', message, options);
  }
}

/** The service failed, could not be reached, or answered what makes no sense. The same call may succeed later. */
export class SealUnavailable extends SealError {
  constructor(message: string, options?: SealErrorOptions) {
    super('seal_unavailable', message, options);
  }
}

/** The service asks for a pause. The same call may succeed later. */
export class SealThrottled extends SealError {
  /** As the service said; absent if it did not. */
  readonly retryAfterSeconds?: number;

  constructor(message: string, options?: SealErrorOptions & { readonly retryAfterSeconds?: number | undefined }) {
    super('seal_throttled', message, options);
    if (options?.retryAfterSeconds !== undefined) this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** The service refuses: wrong or expired credentials, a missing permission, a key that is disabled or does not exist. Somebody must change that. */
export class SealPermissionDenied extends SealError {
  constructor(message: string, options?: SealErrorOptions) {
    super('seal_permission_denied', message, options);
  }
}

/** The blob does not open: it was wrapped with a key that this seal does not have, for other associated data, or it was damaged. */
export class SealWrongKey extends SealError {
  constructor(message: string, options?: SealErrorOptions) {
    super('seal_wrong_key', message, options);
  }
}

/** The session was used after `close`. */
export class SealClosed extends SealError {
  constructor(message = 'the session of the seal is closed') {
    super('seal_closed', message);
  }
}

const CODES: readonly string[] = [
  'seal_settings_invalid',
  'seal_unavailable',
  'seal_throttled',
  'seal_permission_denied',
  'seal_wrong_key',
  'seal_closed',
] satisfies SealErrorCode[];

/** Whether `error` is one of the errors above, whichever copy of this package made it; with `code`, whether it is that one. */
export function isSealError(error: unknown, code?: SealErrorCode): error is SealError {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return code === undefined ? CODES.includes(error.code) : error.code === code;
}
