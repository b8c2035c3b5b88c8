import { ClientSideError, ExternalServiceError, parseRetryAfter, type SyncError, Throttled } from '@strongroom/sync-sdk';

/** Names of the gRPC codes that are distinguished, by number. */
const CODES: Readonly<Record<number, string>> = {
  1: 'CANCELLED',
  2: 'UNKNOWN',
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  5: 'NOT_FOUND',
  6: 'ALREADY_EXISTS',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  10: 'ABORTED',
  11: 'OUT_OF_RANGE',
  12: 'UNIMPLEMENTED',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  15: 'DATA_LOSS',
  16: 'UNAUTHENTICATED',
};
const OURS = new Set([
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'FAILED_PRECONDITION',
  'OUT_OF_RANGE',
  'UNAUTHENTICATED',
]);

/** What the status of a call holds beside its code: google.rpc.RequestInfo, RetryInfo and others, decoded. */
type StatusDetail = { readonly requestId?: string; readonly retryDelay?: { readonly seconds?: string | number } | string };

/** The name of a gRPC code that a call failed with; undefined for anything else. */
export function grpcCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? CODES[error.code] : undefined;
}

/** Turns what Google's libraries throw into the errors of destinations. */
export function translateGoogleError(error: unknown, now: Date): SyncError {
  const code = grpcCode(error);
  if (code !== undefined) return translateStatus(error as Error & { code: number }, code);
  const answer = httpAnswer(error);
  if (answer !== undefined) return translateTokenError(answer, now);
  const message = error instanceof Error ? error.message : String(error);
  if (/DECODER routines|PEM routines|asymmetric key|private key/i.test(message)) {
    return new ClientSideError('the private key of the credentials cannot be read', { providerCode: 'INVALID_KEY' });
  }
  return new ExternalServiceError(`Google cannot be reached: ${message}`);
}

function translateStatus(error: Error & { code: number; details?: string; statusDetails?: unknown }, name: string): SyncError {
  const found = (Array.isArray(error.statusDetails) ? error.statusDetails : []) as StatusDetail[];
  const options = { providerCode: `${error.code} ${name}`, requestId: found.find(({ requestId }) => requestId)?.requestId };
  const text = `Secret Manager answers ${name}: ${error.details ?? error.message}`;
  if (name === 'RESOURCE_EXHAUSTED') {
    const delay = found.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
    const seconds = typeof delay === 'string' ? Number.parseFloat(delay) : delay?.seconds;
    return new Throttled(text, { ...options, retryAfterSeconds: seconds === undefined ? undefined : Math.ceil(Number(seconds)) });
  }
  return OURS.has(name) ? new ClientSideError(text, options) : new ExternalServiceError(text, options);
}

interface HttpAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfter: string | null | undefined;
}

/** The answer of the token endpoint or of IAM that an error stands for. */
function httpAnswer(error: unknown): HttpAnswer | undefined {
  const { response } = (error ?? {}) as { response?: { status?: number; data?: unknown; headers?: { get?(name: string): string | null } } };
  if (typeof response?.status !== 'number') return undefined;
  const data = (response.data ?? {}) as { error?: string | { status?: string; message?: string }; error_description?: string };
  const flat = typeof data.error === 'string';
  const nested = typeof data.error === 'object' ? data.error : undefined;
  return {
    status: response.status,
    code: flat ? (data.error as string) : (nested?.status ?? String(response.status)),
    message: (flat ? data.error_description : nested?.message) ?? '',
    retryAfter: response.headers?.get?.('retry-after'),
  };
}

function translateTokenError({ status, code, message, retryAfter }: HttpAnswer, now: Date): SyncError {
  const text = `Google gives no token: ${code} ${message}`.trim();
  if (status === 429) return new Throttled(text, { providerCode: code, retryAfterSeconds: parseRetryAfter(retryAfter, now) });
  return status >= 500 ? new ExternalServiceError(text, { providerCode: code }) : new ClientSideError(text, { providerCode: code });
}
