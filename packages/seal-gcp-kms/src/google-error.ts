import { type SealError, SealPermissionDenied, SealThrottled, SealUnavailable, SealWrongKey } from '@strongroom/seal-sdk';

/** The gRPC codes that are distinguished. */
const NAMES: Readonly<Record<number, string>> = {
  3: 'INVALID_ARGUMENT',
  5: 'NOT_FOUND',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  16: 'UNAUTHENTICATED',
};
/** A key that is disabled is a failed precondition. */
const REFUSED = new Set([5, 7, 9, 16]);

/** Turns what Google's libraries throw into the errors of seals. */
export function translateGoogleError(error: unknown): SealError {
  const {
    code,
    details,
    message = String(error),
    response,
  } = error as Error & {
    code?: unknown;
    details?: string;
    response?: { status?: number };
  };
  if (typeof code === 'number' && code in NAMES) {
    const options = { serviceCode: `${code} ${NAMES[code]}`, cause: error };
    const text = `Google Cloud KMS answers ${NAMES[code]}: ${details ?? message}`;
    if (code === 3) return new SealWrongKey(text, options);
    if (code === 8) return new SealThrottled(text, options);
    if (REFUSED.has(code)) return new SealPermissionDenied(text, options);
  }
  // The token endpoint speaks HTTP.
  const status = response?.status;
  if (status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429) {
    return new SealPermissionDenied(`Google refuses the credentials: ${message}`, { serviceCode: String(status), cause: error });
  }
  return new SealUnavailable(`Google Cloud KMS cannot be reached: ${details ?? message}`, { cause: error });
}
