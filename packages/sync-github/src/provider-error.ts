import { ClientSideError, ExternalServiceError, parseRetryAfter, SyncError, Throttled } from '@strongroom/sync-sdk';

/** The parts of Octokit's RequestError that are used. Without `response` nothing was answered. */
interface RequestFailure {
  readonly status: number;
  readonly message: string;
  readonly cause?: unknown;
  readonly response?: { readonly headers: Readonly<Record<string, string | number | undefined>>; readonly data: unknown };
}

/** How long to wait where GitHub names a secondary limit and no time. */
const UNNAMED_PAUSE_SECONDS = 60;

export function requestFailure(error: unknown): RequestFailure | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? (error as RequestFailure) : undefined;
}

export function isNotFound(error: unknown): boolean {
  const failure = requestFailure(error);
  return failure?.status === 404 && failure.response !== undefined;
}

/** Turns what Octokit throws into the errors of destinations. */
export function translateGithubError(error: unknown, now: Date): SyncError {
  const failure = requestFailure(error);
  if (failure?.cause instanceof SyncError) return failure.cause;
  if (failure?.response === undefined) return new ExternalServiceError(`GitHub cannot be reached: ${reasonOf(error)}`);
  const { status, response } = failure;
  const header = (name: string): string | undefined => response.headers[name]?.toString();
  const { message } = (response.data ?? {}) as { message?: unknown };
  const text = `GitHub answers ${status}: ${typeof message === 'string' ? message.replaceAll(/\s+/g, ' ') : 'without a reason'}`;
  const details = { providerCode: String(status), requestId: header('x-github-request-id') };
  const limited = /rate limit/i.test(text) || header('x-ratelimit-remaining') === '0';
  if (status === 429 || (status === 403 && (limited || header('retry-after') !== undefined))) {
    return new Throttled(text, { ...details, retryAfterSeconds: pause(header, now) });
  }
  return status >= 500 || status === 408 || status === 409 ? new ExternalServiceError(text, details) : new ClientSideError(text, details);
}

function pause(header: (name: string) => string | undefined, now: Date): number {
  const asked = parseRetryAfter(header('retry-after'), now);
  if (asked !== undefined) return asked;
  const reset = Number(header('x-ratelimit-reset'));
  const left = header('x-ratelimit-remaining') === '0' && Number.isFinite(reset) ? Math.ceil(reset - now.getTime() / 1000) : 0;
  return left > 0 ? left : UNNAMED_PAUSE_SECONDS;
}

function reasonOf(error: unknown): string {
  const failure = error instanceof Error ? error : undefined;
  const inner = failure?.cause instanceof Error ? failure.cause : undefined;
  const innermost = inner?.cause instanceof Error ? inner.cause : undefined;
  return (innermost ?? inner ?? failure)?.message ?? String(error);
}
