/** What went wrong, for hosts: error classes may come from another copy of this package, so decide by `code`. */
export type SyncErrorCode =
  | 'configuration_invalid'
  | 'client_side'
  | 'address_refused'
  | 'external_service'
  | 'throttled'
  | 'name_taken'
  | 'session_closed';

/** What the provider said with the error, for its support. */
export interface SyncErrorOptions extends ErrorOptions {
  /** The provider's own code: `AccessDeniedException`, `ForbiddenByPolicy`, `7 PERMISSION_DENIED`, `403`. */
  readonly providerCode?: string | undefined;
  /** What the provider's support asks for. */
  readonly requestId?: string | undefined;
}

/** Base of all errors of destinations. The message reaches operators, so it holds neither a credential nor a value. */
export class SyncError extends Error {
  readonly code: SyncErrorCode;
  readonly providerCode?: string;
  readonly requestId?: string;

  constructor(code: SyncErrorCode, message: string, options?: SyncErrorOptions) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    if (options?.providerCode !== undefined) this.providerCode = options.providerCode;
    if (options?.requestId !== undefined) this.requestId = options.requestId;
  }
}

/** The connection's settings cannot work, whatever the provider says. From `open` and `describe`. Status CLIENT_SIDE_ERROR. */
export class ConfigurationInvalid extends SyncError {
  constructor(message: string, options?: SyncErrorOptions) {
    super('configuration_invalid', message, options);
  }
}

/** The provider refuses us: wrong or expired credentials, a missing permission, a place that does not exist, a value it does not take. Status CLIENT_SIDE_ERROR. */
export class ClientSideError extends SyncError {
  constructor(message: string, options?: SyncErrorOptions) {
    super('client_side', message, options);
  }
}

/** `network` refused the address or port. Status CLIENT_SIDE_ERROR. */
export class AddressRefused extends SyncError {
  constructor(message: string, options?: SyncErrorOptions) {
    super('address_refused', message, options);
  }
}

/** The provider failed, could not be reached, or answered what makes no sense. What was being done may or may not have happened. Status EXTERNAL_SERVICE_ERROR. */
export class ExternalServiceError extends SyncError {
  constructor(message: string, options?: SyncErrorOptions) {
    super('external_service', message, options);
  }
}

/** The provider asks for a pause. The host leaves the whole destination alone for that long. Status EXTERNAL_SERVICE_ERROR. */
export class Throttled extends SyncError {
  /** From Retry-After or its like; absent if the provider did not say. */
  readonly retryAfterSeconds?: number;

  constructor(message: string, options?: SyncErrorOptions & { readonly retryAfterSeconds?: number | undefined }) {
    super('throttled', message, options);
    if (options?.retryAfterSeconds !== undefined) this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Somebody made a secret of this name between `read` and `put`. Nothing was changed. The host reads and decides again. */
export class NameTaken extends SyncError {
  constructor(message: string, options?: SyncErrorOptions) {
    super('name_taken', message, options);
  }
}

/** The session was used after `close`. */
export class SessionClosed extends SyncError {
  constructor(message = 'the connection to the destination is closed') {
    super('session_closed', message);
  }
}

const CODES: readonly string[] = [
  'configuration_invalid',
  'client_side',
  'address_refused',
  'external_service',
  'throttled',
  'name_taken',
  'session_closed',
] satisfies SyncErrorCode[];

/** Whether `error` is one of the errors above, whichever copy of this package made it; with `code`, whether it is that one. */
export function isSyncError(error: unknown, code?: SyncErrorCode): error is SyncError {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return code === undefined ? CODES.includes(error.code) : error.code === code;
}

/** Seconds of a Retry-After header: a number, or an HTTP date seen from `now`. Undefined for anything else. */
export function parseRetryAfter(header: string | null | undefined, now: Date): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text));
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1000));
}
