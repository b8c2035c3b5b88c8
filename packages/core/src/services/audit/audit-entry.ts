import type { EngineError, RawBody } from '@strongroom/engine-sdk';
import type { CallerIdentity } from '../caller/caller-identity.ts';
import type { RequestOperation } from '../../kernel/call/core-request.ts';
import type { AuthReply, WrapInfo } from '../../kernel/call/core-response.ts';

/** The mount that owns the path, once it is known. */
export interface AuditedMount {
  /** With a closing slash. */
  readonly point: string;
  readonly type: string;
  /** What kind of plugin serves it: `secret` or `auth`. */
  readonly class?: string;
  readonly accessor?: string;
  readonly version?: string;
  /** The mount's `audit_non_hmac_request_keys`: top-level keys whose values, nested ones too, stay readable. */
  readonly readableRequestKeys?: readonly string[];
  /** The same for answers: `audit_non_hmac_response_keys`. */
  readonly readableResponseKeys?: readonly string[];
}

/** Who calls and what the policies said; empty for unauthenticated paths. */
export interface AuditedAuth {
  readonly identity?: CallerIdentity;
  /** Absent until the policies were asked. */
  readonly allowed?: boolean;
  /** Names of the policies that allow the call. */
  readonly grantingPolicies?: readonly string[];
}

/** The call. Nothing in it may change while it is written. */
export interface AuditedRequest {
  readonly id: string;
  readonly operation: RequestOperation;
  /** As the router sees it: no `/v1/`, a list ends with a slash. */
  readonly path: string;
  readonly data?: Readonly<Record<string, unknown>>;
  /** As sent, good or not; only its digest is written. */
  readonly token?: string;
  readonly accessor?: string;
  readonly clientId?: string;
  readonly mount?: AuditedMount;
  readonly policyOverride?: boolean;
  readonly remoteAddress?: string;
  readonly remotePort?: number;
  /** Seconds. */
  readonly wrapTtl?: number;
  /** All of them; written is what `config/auditing/request-headers` names. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly certificateSerialNumber?: string;
}

/** The answer. Leave out what the caller is not sent. */
export interface AuditedResponse {
  readonly data?: unknown;
  /** The text of a refused call; see `auditedFailure`. */
  readonly refusal?: string;
  readonly auth?: (AuthReply & { readonly display_name?: string }) | null;
  readonly leaseId?: string;
  readonly warnings?: readonly string[] | null;
  readonly wrapInfo?: WrapInfo | null;
  readonly raw?: RawBody;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AuditEntry {
  readonly auth: AuditedAuth;
  readonly request: AuditedRequest;
  /** Only of a response entry. */
  readonly response?: AuditedResponse;
  /** What went wrong, in clear; see `auditedFailure`. */
  readonly error?: string;
}

/**
 * Where the text of a failed call goes. A complaint about the caller's input may quote it, so it is the answer's `refusal` and
 * written as a digest; every other text is the entry's `error`, in clear.
 */
export function auditedFailure(failure: EngineError): { readonly error?: string; readonly refusal?: string } {
  const text = failure.errors.join('');
  if (text === '') return {};
  return failure.status === 400 ? { refusal: text } : { error: text };
}
