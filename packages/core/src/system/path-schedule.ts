import { f, path, type AnyPath, type JobStatus } from '@strongroom/engine-sdk';
import type { Journal } from '../journal/journal.ts';
import type { MountTable } from '../mounts/mount-table.ts';
import type { Jobs } from '../schedule/jobs.ts';
import type { TargetGate } from '../schedule/target-gate.ts';

export interface SchedulePathDeps {
  readonly jobs: Jobs;
  readonly journal: Journal;
  readonly gate: TargetGate;
  readonly mounts: MountTable;
}

/** `sys/schedule` and `sys/journal`: what is due, what failed and why. */
export function schedulePaths({ jobs, journal, gate, mounts }: SchedulePathDeps): AnyPath[] {
  const pathOf = (uuid: string): string => mounts.byUuid(uuid)?.path ?? uuid;
  return [
    path('schedule', {
      synopsis: 'What the server will do later.',
      description:
        'Jobs of all engines with their last errors, and the outside systems that are being left alone because they keep failing.',
      access: 'sudo',
      fields: { failing: f.bool('Only jobs whose last try failed.', { default: false }), mount: f.string('Only jobs of this mount path.') },
    }).read({
      summary: 'Shows scheduled jobs.',
      handle: async ({ data }) => {
        const asked = data.mount ? mounts.at(data.mount.endsWith('/') ? data.mount : `${data.mount}/`)?.uuid : '';
        const all = asked === undefined ? [] : await jobs.list(asked);
        return {
          data: {
            jobs: all
              .filter((job) => !data.failing || job.status.attempts > 0)
              .map((job) => ({ mount: pathOf(job.mount), kind: job.kind, id: job.id, ...jobStatusData(job.status) })),
            circuits: gate.breakers.open().map(({ target, failures, until }) => {
              const slash = target.indexOf('/');
              return { target: pathOf(target.slice(0, slash)) + target.slice(slash + 1), failures, until: until.toISOString() };
            }),
          },
        };
      },
    }),
    path('journal', {
      synopsis: 'Outside changes that are not finished.',
      description: 'What is not settled is undone at `next_attempt`.',
      access: 'sudo',
      fields: {},
    }).read({
      summary: 'Shows the journal.',
      handle: async () => ({
        data: {
          intents: (await journal.list()).map((intent) => ({
            id: intent.id,
            mount: pathOf(intent.mount),
            kind: intent.kind,
            opened: intent.opened.toISOString(),
            attempts: intent.attempts,
            next_attempt: intent.nextAttempt.toISOString(),
            last_error: intent.lastError ? { message: intent.lastError.message, at: intent.lastError.at.toISOString() } : null,
          })),
        },
      }),
    }),
  ];
}

/** The status block of a job, as operators read it. */
export function jobStatusData(status: JobStatus): Record<string, unknown> {
  return {
    state: status.state,
    attempts: status.attempts,
    next_attempt: status.nextAttempt.toISOString(),
    last_success: status.lastSuccess?.toISOString() ?? null,
    last_error: status.lastError ? { message: status.lastError.message, at: status.lastError.at.toISOString() } : null,
  };
}
