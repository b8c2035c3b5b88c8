import { Type, type Static } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';
import { renameOutcome, TryRecord } from '../../kernel/work/due-records.ts';

/** A job of an engine, as stored below `job/<mount>/<kind>/<id>`. Times are milliseconds since the epoch. */
export const JobRecord = Type.Object({
  /** Uuid. */
  mount: Type.String(),
  kind: Type.String(),
  id: Type.String(),
  entry: Type.Record(Type.String(), Type.Unknown()),
  due: Type.Number(),
  /** When the work itself was due, also while it is claimed or retried. */
  planned: Type.Number(),
  attempts: Type.Number(),
  claim: Type.Optional(Type.String()),
  /** The incarnation that runs it. */
  process: Type.Optional(Type.String()),
  last_success: Type.Optional(Type.Number()),
  last_error: Type.Optional(Type.Object({ message: Type.String(), at: Type.Number() })),
  failing_since: Type.Optional(Type.Number()),
  tries: Type.Optional(Type.Array(TryRecord)),
});
export type JobRecord = Static<typeof JobRecord>;

export const jobRecords = new Records('job/', JobRecord, { upgrade: renameOutcome });

/** The id of its record, and of its entry in the schedule. */
export function jobId(mount: string, kind: string, id: string): string {
  return `${mount}/${kind}/${id}`;
}
