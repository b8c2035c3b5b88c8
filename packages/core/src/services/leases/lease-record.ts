/** A lease as stored below `lease/<id>`. Times are milliseconds since the epoch. An empty value there is a token's lease. */
export interface LeaseRecord {
  /** Uuid of the mount that issued it; survives a move. */
  mount: string;
  /** Name of the secret type. */
  type: string;
  internal: Record<string, unknown>;
  path: string;
  issued: number;
  expires: number;
  /** The end of the batch token it was issued to: no renewal goes past it. */
  latest?: number;
  renewable: boolean;
  /** Digest of the idempotency key it was asked with. */
  repeat?: string;
  /** Digest of the token it was issued to; '' where there is none to end with. */
  token: string;
  last_renewal?: number;
  /** Where its end stands in the schedule. */
  due: number;
  /** Failed revocations. */
  attempts: number;
  /** Why the last revocation failed. */
  revoke_error?: string;
  /** Given up for now: tried once a day, and listed for operators. */
  irrevocable?: boolean;
  /** A revocation failed or was put off: it stands in the index of those that wait. */
  waiting?: boolean;
  /** The incarnation that revokes it. */
  process?: string;
  /** Revocation has begun; the lease can no longer be renewed. */
  revoking?: boolean;
}
