import type { ApiError } from './api-error.ts';

/**
 * Whether the server does not know the token any more, as opposed to knowing it and refusing the call: only the latter counts the errors
 * (`1 error occurred: …`).
 */
export function isUnknownToken({ status, errors }: ApiError): boolean {
  return status === 403 && errors.some((text) => text === 'permission denied' || /invalid token|bad token/.test(text));
}
