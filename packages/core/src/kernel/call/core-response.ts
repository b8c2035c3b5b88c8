import type { RawBody, StreamedBody } from '@strongroom/engine-sdk';

/** `wrap_info` of the envelope. */
export interface WrapInfo {
  token: string;
  accessor: string;
  /** Seconds. */
  ttl: number;
  /** RFC 3339. */
  creation_time: string;
  creation_path: string;
  wrapped_accessor?: string;
}

/** `auth` of the envelope. */
export interface AuthReply {
  client_token: string;
  accessor: string;
  policies: string[];
  token_policies?: string[];
  identity_policies?: string[];
  metadata: Readonly<Record<string, string>> | null;
  lease_duration: number;
  renewable: boolean;
  entity_id: string;
  token_type: 'service' | 'batch';
  orphan: boolean;
  mfa_requirement: null;
  num_uses: number;
}

/** What a login still has to prove: each constraint, by any of its methods. */
export interface MfaRequirement {
  mfa_request_id: string;
  mfa_constraints: Record<string, { any: { type: 'totp'; id: string; uses_passcode: boolean; name: string }[] }>;
}

/** `auth` of the envelope for a login that is not complete: it has no token. */
export interface PendingAuth extends Omit<AuthReply, 'policies' | 'token_type' | 'mfa_requirement'> {
  policies: null;
  token_type: 'default';
  mfa_requirement: MfaRequirement;
}

/** The answer to a call, free of HTTP. `core.handle` never throws: what went wrong is `errors`. */
export interface CoreResponse {
  /** Of the envelope. Empty where the response is wrapped. */
  readonly requestId: string;
  /** The id of the call in the audit log, where `requestId` does not say it. */
  readonly callId?: string;
  readonly status: number;
  /** Present when the call failed; may be empty (404 with nothing to say). `data` may stand beside it. */
  readonly errors?: readonly string[];
  readonly leaseId: string;
  readonly renewable: boolean;
  readonly leaseDuration: number;
  readonly data: unknown;
  readonly wrapInfo: WrapInfo | null;
  readonly warnings: readonly string[] | null;
  readonly auth: AuthReply | null;
  /** Sent as `auth`, which is null then. Never wrapped: the caller needs it to go on. */
  readonly pendingAuth?: PendingAuth;
  /** Of a credential in `data`; only `wrap_info` shows it. */
  readonly accessor?: string;
  /** Sent instead of the envelope. */
  readonly raw?: RawBody;
  /** Sent instead of the envelope, as it comes about. */
  readonly stream?: StreamedBody;
  /** The keys of `data` are also sent at the top level: what older clients of some `sys` paths read. */
  readonly flattened?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response that says nothing but its status. */
export function emptyResponse(requestId: string, status = 204): CoreResponse {
  return { requestId, status, leaseId: '', renewable: false, leaseDuration: 0, data: null, wrapInfo: null, warnings: null, auth: null };
}
