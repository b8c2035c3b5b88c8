import { type SealError, SealPermissionDenied, SealThrottled, SealUnavailable, SealWrongKey } from '@strongroom/seal-sdk';

/** The blob was made with another key or context, or was damaged. */
const WRONG_KEY = new Set(['InvalidCiphertextException', 'IncorrectKeyException']);
const THROTTLED = new Set([
  'ThrottlingException',
  'Throttling',
  'RequestLimitExceeded',
  'LimitExceededException',
  'TooManyRequestsException',
]);
/** Somebody must change a policy, the credentials or the state of the key. */
const REFUSED = new Set([
  'AccessDeniedException',
  'CredentialsProviderError',
  'DisabledException',
  'ExpiredTokenException',
  'IncompleteSignature',
  'InvalidClientTokenId',
  'InvalidKeyUsageException',
  'InvalidSignatureException',
  'KMSInvalidStateException',
  'MissingAuthenticationTokenException',
  'NotFoundException',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
]);

/** Turns what the SDK throws into the errors of seals. */
export function translateAwsError(error: unknown): SealError {
  const {
    name = '',
    message = String(error),
    $metadata: metadata,
  } = error as Error & { $metadata?: { requestId?: string; httpStatusCode?: number } };
  const options = { serviceCode: name, requestId: metadata?.requestId, cause: error };
  const text = `AWS KMS answers ${name}: ${message}`;
  if (WRONG_KEY.has(name)) return new SealWrongKey(text, options);
  if (THROTTLED.has(name) || metadata?.httpStatusCode === 429) return new SealThrottled(text, options);
  if (REFUSED.has(name)) return new SealPermissionDenied(text, options);
  return new SealUnavailable(metadata?.httpStatusCode === undefined ? `AWS KMS cannot be reached: ${message}` : text, options);
}
