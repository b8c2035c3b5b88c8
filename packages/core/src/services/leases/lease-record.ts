import { Type, type Static } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';

/** A lease as stored below `lease/<id>`. Times are milliseconds since the epoch. An index entry there is a token's lease: the token's record says the rest. */
export const LeaseRecord = Type.Object({
  /** Uuid of the mount that issued it; survives a move. */
  mount: Type.String(),
  /** Name of the secret type. */
  type: Type.String(),
  internal: Type.Record(Type.String(), Type.Unknown()),
  path: Type.String(),
  issued: Type.Number(),
  expires: Type.Number(),
  /** The end of the batch token it was issued to: no renewal goes past it. */
  latest: Type.Optional(Type.Number()),
  renewable: Type.Boolean(),
  /** Digest of the idempotency key it was asked with. */
  repeat: Type.Optional(Type.String()),
  /** Digest of the token it was issued to; '' where there is none to end with. */
  token: Type.String(),
  last_renewal: Type.Optional(Type.Number()),
  /** Where its end stands in the schedule. */
  due: Type.Number(),
  /** Failed revocations. */
  attempts: Type.Number(),
  /** Why the last revocation failed. */
  revoke_error: Type.Optional(Type.String()),
  /** When the revocations began to fail. */
  failing_since: Type.Optional(Type.Number()),
  /** Given up for now: tried once a day, and listed for operators. */
  irrevocable: Type.Optional(Type.Boolean()),
  /** A revocation failed or was postponed: it stands in the index of those that wait. */
  waiting: Type.Optional(Type.Boolean()),
  /** The incarnation that revokes it. */
  process: Type.Optional(Type.String()),
  /** Revocation has begun; the lease can no longer be renewed. */
  revoking: Type.Optional(Type.Boolean()),
});
export type LeaseRecord = Static<typeof LeaseRecord>;

export const leaseRecords = new Records('lease/', LeaseRecord);

/** Whether a lease can still be handed out. */
export function isLive(lease: LeaseRecord | undefined, now: number): lease is LeaseRecord {
  return lease !== undefined && lease.revoking !== true && lease.expires > now;
}
