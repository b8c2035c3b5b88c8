import { objectOf, reasonOf } from '@strongroom/kubernetes-client';
import { ClientSideError, ExternalServiceError, parseRetryAfter, SyncError, Throttled } from '@strongroom/sync-sdk';
import type { ApiAnswer } from './api-call.ts';

/** What Kubernetes names of a refusal, such as a field that another manager owns. */
export interface Cause {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
}

/** The API server did not do what it was asked. The message is its own. */
export class ApiRefusal extends Error {
  readonly status: number;
  /** `NotFound`, `Conflict`, `Invalid`…; '' where a proxy answered. */
  readonly reason: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly causes: readonly Cause[];
  readonly answer: ApiAnswer;

  constructor(answer: ApiAnswer) {
    const { message, reason, details } = answer.body ?? {};
    super(typeof message === 'string' ? message : 'no reason');
    this.answer = answer;
    this.status = answer.status;
    this.reason = typeof reason === 'string' ? reason : '';
    this.details = objectOf(details) ?? {};
    this.causes = listOf(this.details['causes']).map((cause) => ({
      reason: String(cause['reason'] ?? ''),
      field: String(cause['field'] ?? ''),
      message: String(cause['message'] ?? ''),
    }));
  }

  /** In the API server's own words: a proxy in between answers 404, too. */
  isAbsenceOf(name: string): boolean {
    return this.status === 404 && this.reason === 'NotFound' && this.details['kind'] === 'secrets' && this.details['name'] === name;
  }
}

/** The objects in a list. Kubernetes sends null for an empty one. */
export function listOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(objectOf).filter((item) => item !== undefined) : [];
}

/** Turns what a call throws into the errors of destinations. */
export function translateApiError(error: unknown, now: Date): SyncError {
  if (error instanceof SyncError) return error;
  if (!(error instanceof ApiRefusal)) return new ExternalServiceError(`the Kubernetes API server cannot be reached: ${reasonOf(error)}`);
  const { status, reason, message, answer } = error;
  const details = { providerCode: reason === '' ? String(status) : reason, requestId: answer.auditId };
  const text = `the Kubernetes API server answers ${status}: ${message.replaceAll(/\s+/g, ' ')}`;
  if (status === 429) return new Throttled(text, { ...details, retryAfterSeconds: parseRetryAfter(answer.retryAfter, now) });
  return status >= 500 || status === 408 || status === 410 || status < 400
    ? new ExternalServiceError(text, details)
    : new ClientSideError(text, details);
}
