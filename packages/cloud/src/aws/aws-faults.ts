import { CloudFailed, CloudRefused, CloudThrottled, type CloudError, type CloudFault } from '../cloud-error.ts';

/** Answers that mean: later. https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html and the lists of the SDKs. */
const THROTTLING = new Set([
  'BandwidthLimitExceeded',
  'EC2ThrottledException',
  'PriorRequestNotComplete',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
]);

/** Answers that mean: I do not know you. The fault is the root credential's, not the caller's. */
const UNKNOWN_CREDENTIAL = new Set([
  'AuthFailure',
  'ExpiredToken',
  'ExpiredTokenException',
  'IncompleteSignature',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'MissingAuthenticationToken',
  'OptInRequired',
  'RequestExpired',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
]);

/** Failures of Node's that come before anything is sent. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ERR_INVALID_URL']);

const WRAPPED = /^AWS SDK error wrapper for (?:Error: )?/;
const LONGEST_TEXT = 1_000;
const title = 'AWS';

interface Thrown {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly Code?: string;
  readonly Error?: { readonly Code?: string };
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

/** AWS's own code: the SDK's names of exceptions often have `Exception` added. */
export function codeOf(error: unknown): string {
  const { Code, Error: inner, name } = error as Thrown;
  return Code ?? inner?.Code ?? (name ?? '').replace(/^(NoSuchEntity|EntityAlreadyExists|DeleteConflict|LimitExceeded)Exception$/, '$1');
}

export function isThrottling(error: unknown): boolean {
  return (error as Thrown).$metadata?.httpStatusCode === 429 || THROTTLING.has(codeOf(error));
}

export function isUnknownCredential(error: unknown): boolean {
  return UNKNOWN_CREDENTIAL.has(codeOf(error));
}

/** What a throw of the SDK means. `secrets` are taken out of its text. */
export function faultOf(error: unknown, secrets: readonly string[]): CloudError {
  const thrown = error as Thrown;
  const status = thrown.$metadata?.httpStatusCode;
  const headers = thrown.$response?.headers ?? {};
  const fault = (outcome: CloudFault['outcome'], text = thrown.message ?? String(error), code = codeOf(error)): CloudFault => ({
    provider: title,
    code,
    text: cleaned(text, secrets),
    requestId: thrown.$metadata?.requestId ?? headers['x-amzn-requestid'] ?? '',
    outcome,
  });
  if (thrown.name === 'CredentialsProviderError') {
    return new CloudRefused(
      fault(
        'unsent',
        'there is no access_key in config/root, and no credential in the environment, the shared files or the machine’s role',
        '',
      ),
    );
  }
  if (isThrottling(error)) {
    const retryAfter = Number(headers['retry-after']);
    return new CloudThrottled({ ...fault('refused'), ...(retryAfter > 0 ? { retryAfter } : {}) });
  }
  if (status === undefined) {
    if (thrown.name === 'AbortError') return new CloudFailed(fault('unknown', 'no answer in time', ''));
    const code = networkCode(thrown);
    return new CloudFailed(fault(NOT_SENT.has(code) ? 'unsent' : 'unknown', (thrown.message ?? '').replace(WRAPPED, ''), code));
  }
  if (isUnknownCredential(error)) return new CloudFailed(fault('refused'));
  if (status >= 400 && status < 500) return new CloudRefused(fault('refused'));
  // What is no answer of AWS's, such as the page of a proxy, has no code of AWS's either.
  const answered = thrown.name !== 'SyntaxError' && thrown.name !== 'Error';
  return new CloudFailed(answered ? fault('unknown') : fault('unknown', `an answer with status ${status} that cannot be read`, ''));
}

/** Node's code. The SDK puts errors of another realm, such as a test runner's, into one of its own, of which only the text is left. */
function networkCode({ code, message = '' }: Thrown): string {
  return code ?? (WRAPPED.test(message) ? (/\bE[A-Z_]{4,}\b/.exec(message)?.[0] ?? '') : '');
}

function cleaned(text: string, secrets: readonly string[]): string {
  let out = text.trim();
  for (const secret of secrets) if (secret !== '') out = out.replaceAll(secret, '***');
  return out.length > LONGEST_TEXT ? `${out.slice(0, LONGEST_TEXT)}…` : out;
}
