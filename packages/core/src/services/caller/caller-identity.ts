import type { PolicyBound } from '../tokens/token-record.ts';
/** The token behind a call as the rooms of the core see it, after the token was read and before the policy is asked. */
export interface CallerIdentity {
  /** What the caller sent; only the audit log's digest and the wrapping code may touch it. */
  readonly token: string;
  readonly accessor: string;
  readonly displayName: string;
  readonly type: 'service' | 'batch';
  /** Policies of the token itself, sorted. */
  readonly tokenPolicies: readonly string[];
  /** Policies of the entity and its groups, sorted. */
  readonly identityPolicies: readonly string[];
  readonly noDefaultPolicy: boolean;
  readonly entityId: string;
  /** What its makers had, where it has fewer policies. */
  readonly within?: readonly PolicyBound[];
  readonly metadata: Readonly<Record<string, string>>;
  /** 0 is without limit. */
  readonly numUses: number;
  readonly remainingUses: number;
  /** Seconds at creation; 0 never ends. */
  readonly ttl: number;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
}
