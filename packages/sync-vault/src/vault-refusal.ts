import { ClientSideError, ExternalServiceError, parseRetryAfter, SyncError, Throttled, type JsonAnswer } from '@strongroom/sync-sdk';

/** An answer that says no. The message is the server's own. */
export class VaultRefusal extends Error {
  readonly status: number;
  readonly answer: JsonAnswer;
  /** Whether the server itself answered: a proxy in between has other words. */
  readonly isOwn: boolean;

  constructor(answer: JsonAnswer) {
    const errors = answer.body?.['errors'];
    super((Array.isArray(errors) ? errors.map(String).join('; ') : '').replaceAll(/\s+/g, ' ').trim());
    this.status = answer.status;
    this.answer = answer;
    this.isOwn = Array.isArray(errors);
  }

  /** Nothing is there, by the server's own word: it has no other words for it than the status. */
  get isAbsence(): boolean {
    return this.status === 404 && this.isOwn && this.message === '';
  }

  /** The secret is at another version than the one that the write named. */
  get isConflict(): boolean {
    return this.status === 400 && this.message.includes('check-and-set parameter');
  }
}

/** Turns what a call throws into the errors of destinations. */
export function translateVaultError(error: unknown, now: Date): SyncError {
  if (error instanceof SyncError) return error;
  if (!(error instanceof VaultRefusal)) {
    return new ExternalServiceError(`the server at address cannot be reached: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { status, message, answer } = error;
  const requestId = answer.body?.['request_id'];
  const details = { providerCode: String(status), requestId: typeof requestId === 'string' ? requestId : undefined };
  const text = `the server at address answers ${status}: ${message === '' ? 'no reason' : message}`;
  if (status === 429) {
    return new Throttled(text, { ...details, retryAfterSeconds: parseRetryAfter(answer.header('retry-after'), now) });
  }
  if (status >= 300 && status < 400) {
    return new ClientSideError(`the server at address redirects to another one; set address to the one that is active`, details);
  }
  return status >= 500 || status === 408 || status === 412 || status < 400
    ? new ExternalServiceError(text, details)
    : new ClientSideError(text, details);
}
