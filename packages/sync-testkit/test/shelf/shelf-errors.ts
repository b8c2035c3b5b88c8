import { ClientSideError, ExternalServiceError, parseRetryAfter, Throttled, type SyncError } from '@strongroom/sync-sdk';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Shelf says no. */
export class ShelfRefusal extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly code: string;

  constructor(status: number, headers: Headers, { code, message }: Readonly<Record<string, unknown>>) {
    super(`Shelf answers ${status}: ${typeof message === 'string' ? message : 'an answer that cannot be read'}`);
    this.status = status;
    this.headers = headers;
    this.code = typeof code === 'string' ? code : String(status);
  }
}

/** Turns a refusal, or a connection that failed, into the errors of destinations. */
export function translate(error: unknown, now: Date): SyncError {
  if (!(error instanceof ShelfRefusal)) {
    const { code, message } = error as Error & { code?: string };
    return new ExternalServiceError(`Shelf cannot be reached: ${message}`, { providerCode: code });
  }
  const header = (name: string): string | undefined => [error.headers[name]].flat()[0];
  const details = { providerCode: error.code, requestId: header('x-request-id') };
  if (error.status === 429) {
    return new Throttled(error.message, { ...details, retryAfterSeconds: parseRetryAfter(header('retry-after'), now) });
  }
  return error.status < 500 ? new ClientSideError(error.message, details) : new ExternalServiceError(error.message, details);
}
