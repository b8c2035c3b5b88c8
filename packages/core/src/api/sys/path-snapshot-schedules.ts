import { type AnyPath, f, namesPath, NoContent, path, shownFields, Timestamp } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Jobs } from '../../services/jobs/jobs.ts';
import type { SnapshotPlaces } from '../../services/snapshots/snapshot-places.ts';
import { unknownSeries, type SeriesState, type SnapshotSchedules } from '../../services/snapshots/snapshot-schedules.ts';

interface Deps {
  readonly snapshotSchedules: SnapshotSchedules;
  readonly snapshotPlaces: SnapshotPlaces;
  readonly jobs: Jobs;
  /** Uuid of `sys/`. */
  readonly mount: () => string;
}

const AUTO = 'storage/raft/snapshot-auto';
const Time = (description: string) => Type.Union([Timestamp, Type.Null()], { description });
const Status = Type.Object({
  consecutive_errors: Type.Integer({ description: 'Since the last good snapshot.' }),
  last_snapshot_start: Time('Of the last attempt.'),
  last_snapshot_end: Time('Of the last attempt that ended.'),
  last_snapshot_error: Type.String({ description: 'Why the last attempt failed; empty where it did not.' }),
  last_snapshot_url: Type.String({ description: 'Of the last good snapshot; empty where there is none.' }),
  last_snapshot_time: Time('Of the last good snapshot.'),
  last_snapshot_bytes: Type.Integer({ description: 'Of the last good snapshot.' }),
  snapshot_start: Time('Of the snapshot that is being written.'),
  snapshot_url: Type.String({ description: 'Of the snapshot that is being written; empty where none is.' }),
  next_snapshot_start: Time('The next attempt.'),
  snapshots: Type.Array(Type.Object({ url: Type.String(), time: Timestamp, bytes: Type.Integer() }), {
    description: 'The snapshots that are kept, the oldest first.',
  }),
  retention_problem: Type.String({ description: 'Why older snapshots are not deleted as they should be; empty where they are.' }),
});

/** `sys/storage/raft/snapshot-auto`: snapshots that the server takes by itself. Paths and fields are those of Vault Enterprise. */
export function snapshotSchedulePaths({ snapshotSchedules: schedules, snapshotPlaces: places, jobs, mount }: Deps): AnyPath[] {
  const name = f.name('Name of the series.');
  const own = places.fields;
  const common = {
    storage_type: f.string('Where snapshots are written: `local` or `aws-s3`.'),
    interval: f.duration('Time between two snapshots: from 1 minute to 366 days.'),
    retain: f.int('How many snapshots are kept: from 1 to 1000. 1 by default.'),
    max_age: f.duration('Older snapshots are deleted, except for the last one; 0, the default, keeps any age.'),
    path_prefix: f.string('The folder that snapshots are written to; of a bucket, what names begin with.'),
    file_prefix: f.string('What the names of snapshots begin with; `strongroom-snapshot` by default.'),
  };
  return [
    namesPath(`${AUTO}/config`, schedules.names, {
      synopsis: 'The series of scheduled snapshots.',
      description: 'Lists the names of all series.',
    }),
    path(`${AUTO}/config/{name}`, {
      synopsis: 'A series of scheduled snapshots.',
      description:
        'The server takes a snapshot when the settings are written and at each interval from then on, checks what it has written, and deletes older ones that it wrote itself. One of the servers of a store takes each.',
      access: 'sudo',
      fields: { name, ...common, ...own },
    })
      .read({
        summary: 'Reads the settings of a series, without secrets.',
        response: shownFields({ ...common, ...own }),
        handle: async ({ data }) => {
          const series = await schedules.get(data.name);
          if (!series) return undefined;
          const { storage_type, interval, retain, max_age, path_prefix, file_prefix } = series.settings;
          return { data: { storage_type, interval, retain, max_age, path_prefix, file_prefix, ...places.shown(series.settings) } };
        },
      })
      .update({
        summary: 'Creates or changes a series. Fields that are not sent stay.',
        response: NoContent,
        handle: async ({ data }) => {
          const all: Readonly<Record<string, unknown>> = data;
          const { name: series, storage_type, interval, retain, max_age, path_prefix, file_prefix } = data;
          const values = Object.fromEntries(Object.keys(own).map((field) => [field, all[field]]));
          await schedules.save(series, { storage_type, interval, retain, max_age, path_prefix, file_prefix, values });
          return undefined;
        },
      })
      .delete({
        summary: 'Deletes a series. Its snapshots stay.',
        response: NoContent,
        handle: async ({ data }) => {
          await schedules.remove(data.name);
          return undefined;
        },
      }),
    path(`${AUTO}/status/{name}`, {
      synopsis: 'How a series of scheduled snapshots fares.',
      description: 'The last good snapshot, the last error, and what is kept.',
      fields: { name },
    }).read({
      summary: 'Reads the status of a series.',
      response: Status,
      handle: async ({ data }) => {
        const series = await schedules.get(data.name);
        return series && { data: statusOf(series) };
      },
    }),
    path(`${AUTO}/run/{name}`, {
      synopsis: 'Takes a scheduled snapshot now.',
      description:
        'The next snapshot of the series is taken at once. The answer does not wait for it; the status tells what becomes of it.',
      access: 'sudo',
      fields: { name },
    }).update({
      summary: 'Takes a snapshot of the series now.',
      response: NoContent,
      handle: async ({ data }) => {
        if (!(await jobs.runSoon(mount(), schedules.jobs.kind, data.name))) throw unknownSeries(data.name);
        return undefined;
      },
    }),
  ];
}

function statusOf({ runs, next, running }: SeriesState) {
  const writing = running ? runs.writing : undefined;
  const good = runs.kept.at(-1);
  const time = (millis: number | undefined): string | null => (millis === undefined ? null : new Date(millis).toISOString());
  return {
    consecutive_errors: runs.failures,
    last_snapshot_start: time(runs.last_start),
    last_snapshot_end: time(runs.last_end),
    last_snapshot_error: runs.last_error ?? '',
    last_snapshot_url: good?.url ?? '',
    last_snapshot_time: time(good?.at),
    last_snapshot_bytes: good?.bytes ?? 0,
    snapshot_start: time(writing?.at),
    snapshot_url: writing?.url ?? '',
    next_snapshot_start: next?.toISOString() ?? null,
    snapshots: runs.kept.map(({ url, at, bytes }) => ({ url, time: new Date(at).toISOString(), bytes })),
    retention_problem: runs.trouble?.message ?? '',
  };
}
