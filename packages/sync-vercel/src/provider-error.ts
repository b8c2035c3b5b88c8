import {
  ClientSideError,
  ExternalServiceError,
  parseRetryAfter,
  type SyncError,
  type SyncErrorOptions,
  Throttled,
} from '@strongroom/sync-sdk';

/** An answer of Vercel that says no. */
export class VercelRefusal extends Error {
  readonly status: number;
  /** Vercel's own: `forbidden`, `ENV_CONFLICT`. */
  readonly code: string;
  readonly header: (name: string) => string | undefined;

  constructor(status: number, code: string, message: string, header: (name: string) => string | undefined) {
    super(message);
    this.status = status;
    this.code = code;
    this.header = header;
  }

  /** Another variable of the name serves one of the environments. */
  get isConflict(): boolean {
    return this.code === 'ENV_CONFLICT' || this.code === 'ENV_ALREADY_EXISTS';
  }
}

export function translateVercelError(error: unknown, now: Date): SyncError {
  if (!(error instanceof VercelRefusal)) {
    return new ExternalServiceError(`Vercel cannot be reached: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { status, code, message, header } = error;
  const details: SyncErrorOptions = { providerCode: code === '' ? String(status) : `${status} ${code}`, requestId: header('x-vercel-id') };
  const text = `Vercel answers ${status} ${code}: ${message}`;
  if (status === 429) return new Throttled(text, { ...details, retryAfterSeconds: pause(header, now) });
  return status >= 500 || status === 408 ? new ExternalServiceError(text, details) : new ClientSideError(text, details);
}

function pause(header: (name: string) => string | undefined, now: Date): number | undefined {
  const asked = parseRetryAfter(header('retry-after'), now);
  if (asked !== undefined) return asked;
  const reset = Number(header('x-ratelimit-reset') ?? Number.NaN);
  return Number.isFinite(reset) ? Math.max(1, Math.ceil(reset - now.getTime() / 1000)) : undefined;
}
