import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

/** Times in these records are milliseconds since the epoch. */
const SnapshotSettings = Type.Object({
  storage_type: Type.String(),
  /** Seconds. */
  interval: Type.Number(),
  /** Snapshots that are kept, at most. */
  retain: Type.Number(),
  /** Seconds; 0 for any age. */
  max_age: Type.Number(),
  path_prefix: Type.String(),
  file_prefix: Type.String(),
  /** The fields of the storage type. */
  settings: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
  /** When an operator wrote them first, and last. */
  created: Type.Number(),
  written: Type.Number(),
});
/** What operators decide about one series of snapshots. */
export type SnapshotSettings = Static<typeof SnapshotSettings>;

const Kept = Type.Object({ name: Type.String(), url: Type.String(), at: Type.Number(), bytes: Type.Number() });
/** A snapshot that is there, and that this server wrote. */
export type Kept = Static<typeof Kept>;

const SnapshotRuns = Type.Object({
  last_start: Type.Optional(Type.Number()),
  last_end: Type.Optional(Type.Number()),
  last_error: Type.Optional(Type.String()),
  /** Since the last good one. */
  failures: Type.Number(),
  /** Under this name something is being written, or was when a server died. */
  writing: Type.Optional(Type.Object({ name: Type.String(), url: Type.String(), at: Type.Number() })),
  /** The oldest first. The last of them is the last good one. */
  kept: Type.Array(Kept),
  /** Why older ones are not deleted as they should be. */
  trouble: Type.Optional(Type.Object({ message: Type.String(), since: Type.Number() })),
});
/** What became of a series so far. */
export type SnapshotRuns = Static<typeof SnapshotRuns>;

/** Before the first run. */
export const noRuns: SnapshotRuns = { failures: 0, kept: [] };

/** The records of the series, by their names. */
export function scheduleRecords(storage: Pick<StorageView, 'collection'>): {
  readonly settings: Collection<SnapshotSettings>;
  readonly runs: Collection<SnapshotRuns>;
} {
  return {
    settings: storage.collection('snapshot-settings/', SnapshotSettings),
    runs: storage.collection('snapshot-runs/', SnapshotRuns),
  };
}
