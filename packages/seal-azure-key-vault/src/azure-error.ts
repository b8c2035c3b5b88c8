import { type SealError, SealPermissionDenied, SealThrottled, SealUnavailable, SealWrongKey } from '@strongroom/seal-sdk';

interface AzureFailure extends Error {
  readonly statusCode?: number;
  readonly code?: string;
  readonly response?: { readonly headers: { get(name: string): string | undefined } };
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!.trim();

/** Turns what Azure's libraries throw into the errors of seals. */
export function translateAzureError(error: unknown): SealError {
  const { name = '', message = String(error), statusCode: status, code, response } = error as AzureFailure;
  if (/^(Aggregate)?Authentication(Required)?Error$|^CredentialUnavailableError$/.test(name)) return identityError(error, message);
  if (status === undefined) return new SealUnavailable(`Azure Key Vault cannot be reached: ${firstLine(message)}`, { cause: error });
  const options = { serviceCode: `${status} ${code ?? ''}`.trim(), requestId: response?.headers.get('x-ms-request-id'), cause: error };
  const text = `Azure Key Vault answers ${options.serviceCode}: ${firstLine(message)}`;
  if (status === 429) {
    const pause = Number(response?.headers.get('retry-after'));
    return new SealThrottled(text, { ...options, retryAfterSeconds: Number.isFinite(pause) ? pause : undefined });
  }
  if (status === 401 || status === 403 || status === 404 || status === 409) return new SealPermissionDenied(text, options);
  return status === 400 ? new SealWrongKey(text, options) : new SealUnavailable(text, options);
}

function identityError(error: unknown, message: string): SealError {
  const [code] = /AADSTS\d+/.exec(message) ?? [];
  const [, throttled] = /\b(429|too many requests)\b/i.exec(message) ?? [];
  const options = { serviceCode: code, cause: error };
  if (throttled !== undefined) return new SealThrottled(`Microsoft Entra ID asks for a pause: ${firstLine(message)}`, options);
  if (code === undefined && /ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|network/i.test(message))
    return new SealUnavailable(`Microsoft Entra ID cannot be reached: ${firstLine(message)}`, options);
  return new SealPermissionDenied(`Microsoft Entra ID gives no token: ${firstLine(message)}`, options);
}
