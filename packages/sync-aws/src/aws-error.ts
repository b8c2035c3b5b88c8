import { ClientSideError, ExternalServiceError, parseRetryAfter, SyncError, Throttled } from '@strongroom/sync-sdk';

/** The parts of an error of the SDK that are used. */
interface AwsFailure extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
  readonly $response?: { readonly statusCode?: number; readonly headers?: Readonly<Record<string, string>> };
  readonly $retryable?: { readonly throttling?: boolean };
  readonly code?: string;
}

const THROTTLING = /^(Throttl|TooManyRequests|RequestLimitExceeded|SlowDown|RequestThrottled)/;
/** Nobody answered for credentials, or the region is not known. */
const UNCONFIGURED = /^(CredentialsProviderError|TokenProviderError)$|^Region is missing/;

/** Turns what the AWS SDK throws into the errors of destinations. `service`: what people call it. */
export function translateAwsError(service: string, error: unknown, now: Date): SyncError {
  if (error instanceof SyncError) return error;
  if (!(error instanceof Error)) return new ExternalServiceError(`${service} cannot be used`);
  const failure = error as AwsFailure;
  const status = failure.$metadata?.httpStatusCode ?? failure.$response?.statusCode;
  const requestId = failure.$metadata?.requestId ?? failure.$response?.headers?.['x-amzn-requestid'];
  // A refusal that is not in the form of the service, such as one of a proxy, says no more than its status.
  const unreadable = failure.name === 'SyntaxError';
  const code = unreadable ? String(status) : failure.name;
  const details = { providerCode: code, requestId };
  const text = `AWS answers ${code}: ${unreadable ? 'an answer that cannot be read' : failure.message.split('\n', 1)[0]!}`;
  if (failure.$retryable?.throttling === true || status === 429 || THROTTLING.test(failure.name)) {
    const header = failure.$response?.headers?.['retry-after'];
    return new Throttled(text, { ...details, retryAfterSeconds: parseRetryAfter(header, now) });
  }
  if (UNCONFIGURED.test(failure.name) || UNCONFIGURED.test(failure.message)) {
    return new ClientSideError(`AWS cannot be asked: ${failure.message}`, { providerCode: failure.name });
  }
  if (status !== undefined && status >= 400 && status < 500 && status !== 408) return new ClientSideError(text, details);
  if (status !== undefined) return new ExternalServiceError(text, details);
  const reason = failure.code ?? failure.name;
  return new ExternalServiceError(`${service} cannot be reached: ${failure.message || reason}`, { providerCode: reason });
}

/** Whether the service refused for this reason. */
export function isRefusal(error: unknown, name: string | RegExp, text = /^/): boolean {
  if (!(error instanceof Error) || !text.test(error.message)) return false;
  return typeof name === 'string' ? error.name === name : name.test(error.name);
}
