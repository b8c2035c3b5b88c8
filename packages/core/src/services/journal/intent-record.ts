import { Type, type Static } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';
import { renameOutcome, TryRecord } from '../../kernel/work/due-records.ts';

/** An outside change in progress, as stored below `intent/<id>`. Times are milliseconds since the epoch. */
export const IntentRecord = Type.Object({
  /** Uuid. */
  mount: Type.String(),
  kind: Type.String(),
  entry: Type.Record(Type.String(), Type.Unknown()),
  opened: Type.Number(),
  due: Type.Number(),
  attempts: Type.Number(),
  /** The incarnation that opened it, or that undoes it; absent in records from before there was this field. */
  process: Type.Optional(Type.String()),
  /**
   * It was undone early, because its process had ended: a process that was only frozen may still complete the change, so it is undone once more at
   * this time.
   */
  again: Type.Optional(Type.Number()),
  /** Rollback has begun: the change that was under way can no longer be completed. */
  undoing: Type.Optional(Type.Boolean()),
  last_error: Type.Optional(Type.Object({ message: Type.String(), at: Type.Number() })),
  failing_since: Type.Optional(Type.Number()),
  tries: Type.Optional(Type.Array(TryRecord)),
});
export type IntentRecord = Static<typeof IntentRecord>;

export const intentRecords = new Records('intent/', IntentRecord, { upgrade: renameOutcome });

/** Its rollback has neither begun nor been asked for. */
export function isYoung(record: IntentRecord): boolean {
  return record.undoing !== true && record.attempts === 0;
}
