import { Type, type Static } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';

/**
 * A mount on its way out, as stored below `core/removal/<uuid>` and indexed in the schedule. It goes through its phases in this order and survives
 * whoever began it:
 * - `revoking`: what it issued is taken back. Only here it can be cancelled.
 * - `letting-go`: forced. What is left outside is listed below `left`; leases and open intents are dropped.
 * - `wiping`: it is no longer in the table of mounts; its records are deleted.
 */
export const RemovalRecord = Type.Object({
  path: Type.String(),
  class: Type.Union([Type.Literal('secret'), Type.Literal('auth')]),
  type: Type.String(),
  uuid: Type.String(),
  accessor: Type.String(),
  phase: Type.Union([Type.Literal('revoking'), Type.Literal('letting-go'), Type.Literal('wiping')]),
  /** Milliseconds since the epoch, as all times here. */
  since: Type.Number(),
  /** Where it stands in the schedule: the next attempt, or the end of the claim. */
  due: Type.Number(),
  /** Whoever is at work on it, until `due`. */
  claim: Type.Optional(Type.String()),
  /** Attempts that failed. */
  attempts: Type.Number(),
  last_attempt: Type.Optional(Type.Number()),
  /** Why the last attempt failed. */
  reasons: Type.Array(Type.String()),
  /** Leases that were still there after it. */
  leases: Type.Optional(Type.Number()),
});
export type RemovalRecord = Static<typeof RemovalRecord>;

/** Removals under way, by the mount's uuid. */
export const removalRecords = new Records('core/removal/', RemovalRecord);
