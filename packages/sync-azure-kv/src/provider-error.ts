import { ClientSideError, ExternalServiceError, parseRetryAfter, type SyncError, Throttled } from '@strongroom/sync-sdk';
import type { AuthorityWatch } from './authority-watch.ts';

/** The parts of RestError that are used. */
interface KeyVaultFailure {
  readonly statusCode: number;
  readonly code?: string;
  readonly message: string;
  readonly details?: unknown;
  readonly response?: { readonly headers: { get(name: string): string | undefined } };
}

/** Of an answer of the vault with an error status; undefined for anything else. */
export function keyVaultFailure(error: unknown): KeyVaultFailure | undefined {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? (error as KeyVaultFailure) : undefined;
}

/** The code inside the code: what a `Conflict` or `Forbidden` is about. */
export function innerCode(failure: KeyVaultFailure): string | undefined {
  const { error } = (failure.details ?? {}) as { error?: { innerError?: { code?: string }; innererror?: { code?: string } } };
  return error?.innerError?.code ?? error?.innererror?.code;
}

/** Turns what the Azure SDKs throw into the errors of destinations. */
export function translateAzureError(error: unknown, now: Date, authority: AuthorityWatch): SyncError {
  const failure = keyVaultFailure(error);
  if (failure !== undefined) return translateFailure(failure, now);
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  if (/^(Aggregate)?Authentication(Required)?Error$|^CredentialUnavailableError$/.test(name))
    return translateIdentityError(name, message, authority.failure(now));
  return new ExternalServiceError(`Azure Key Vault cannot be reached: ${message}`, { providerCode: codeOf(error) });
}

function translateFailure(failure: KeyVaultFailure, now: Date): SyncError {
  const { statusCode: status, response } = failure;
  const inner = innerCode(failure);
  const code = [failure.code ?? String(status), inner].filter(Boolean).join('/');
  const details = { providerCode: code, requestId: response?.headers.get('x-ms-request-id') };
  const text = `Azure Key Vault answers ${status} ${code}: ${firstLine(failure.message)}`;
  if (status === 429) {
    return new Throttled(text, { ...details, retryAfterSeconds: parseRetryAfter(response?.headers.get('retry-after'), now) });
  }
  // A conflict passes: the name is on its way into, or out of, deletion.
  if (status >= 500 || status === 408 || status === 409) return new ExternalServiceError(text, details);
  return new ClientSideError(text, details);
}

/** Codes with which Entra ID says that it is its own fault, or that it is busy. */
const PASSING = new Set(['AADSTS90006', 'AADSTS90012', 'AADSTS90024', 'AADSTS90033', 'AADSTS50196', 'AADSTS70046']);

function translateIdentityError(name: string, message: string, failure: SyncError | undefined): SyncError {
  const [code] = /AADSTS\d+/.exec(message) ?? [];
  const requestId = /Trace ID: ([0-9a-f-]{36})/i.exec(message)?.[1];
  const reason = firstLine(message.replace(/^[^]*?(?=AADSTS\d+:)/, '').replace(/\s*Trace ID:[^]*/i, ''));
  if (code !== undefined) {
    const text = `Microsoft Entra ID refuses the credentials: ${reason}`;
    return PASSING.has(code)
      ? new ExternalServiceError(text, { providerCode: code, requestId })
      : new ClientSideError(text, { providerCode: code, requestId });
  }
  if (failure !== undefined) return failure;
  const tenant = /not configured to acquire tokens for tenant ([0-9A-Za-z.-]+?)\.(\s|$)/.exec(message)?.[1];
  if (tenant !== undefined) {
    return new ClientSideError(`tenant_id is not the tenant of the vault, which is ${tenant}`, { providerCode: 'wrong_tenant' });
  }
  if (name === 'CredentialUnavailableError' || name === 'AggregateAuthenticationError') {
    return new ClientSideError(`client_secret is not set, and Azure's credential chain has no credential: ${firstLine(message)}`, {
      providerCode: name,
    });
  }
  return new ExternalServiceError(`Microsoft Entra ID cannot be asked for a token: ${firstLine(message)}`, { providerCode: name });
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!.trim();

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
