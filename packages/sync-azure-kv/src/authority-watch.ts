import type { ClientSecretCredentialOptions } from '@azure/identity';
import { addressRefusal, ExternalServiceError, parseRetryAfter, type SyncError, Throttled } from '@strongroom/sync-sdk';

/** A step of the library's own way of sending requests. */
type Policy = NonNullable<ClientSecretCredentialOptions['additionalPolicies']>[number]['policy'];

/**
 * Sees how the token authority answers. The identity library says neither the status nor the pause, and not what went wrong with a connection;
 * without an AADSTS code its errors tell nothing.
 */
export class AuthorityWatch implements Policy {
  readonly name = 'authorityWatch';
  #failed: { readonly status: number; readonly retryAfter: string | undefined } | { readonly error: unknown } | undefined;

  sendRequest: Policy['sendRequest'] = async (request, next) => {
    try {
      const response = await next(request);
      const { status, headers } = response;
      this.#failed = status === 429 || status >= 500 ? { status, retryAfter: headers.get('retry-after') } : undefined;
      return response;
    } catch (error) {
      this.#failed = { error };
      throw error;
    }
  };

  /** What the last request to the authority came to; undefined if it was answered, well or with a refusal. */
  failure(now: Date): SyncError | undefined {
    const failed = this.#failed;
    if (failed === undefined) return undefined;
    if ('error' in failed) {
      const reason = failed.error instanceof Error ? failed.error.message : 'no answer';
      return addressRefusal(failed.error) ?? new ExternalServiceError(`Microsoft Entra ID cannot be reached: ${reason}`);
    }
    const details = { providerCode: String(failed.status) };
    const text = `Microsoft Entra ID answers ${failed.status}`;
    if (failed.status !== 429) return new ExternalServiceError(text, details);
    return new Throttled(text, { ...details, retryAfterSeconds: parseRetryAfter(failed.retryAfter, now) });
  }
}
