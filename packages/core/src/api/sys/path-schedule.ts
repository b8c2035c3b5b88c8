import { type AnyPath, BadRequest, f, type JobStatus, NoContent, NotFound, path } from '@strongroom/engine-sdk';
import type { IntentStatus, Journal } from '../../services/journal/journal.ts';
import type { MountTable } from '../../services/mounts/mount-table.ts';
import { leftData, leftWarning } from '../../services/outside/left-outside.ts';
import type { Jobs } from '../../services/jobs/jobs.ts';
import type { OutsideSystems } from '../../kernel/work/outside-systems.ts';

export interface SchedulePathDeps {
  readonly jobs: Jobs;
  readonly journal: Journal;
  readonly outside: OutsideSystems;
  readonly mounts: MountTable;
}

/** `sys/schedule` and `sys/journal`: what is due, what failed and why. */
export function schedulePaths({ jobs, journal, outside, mounts }: SchedulePathDeps): AnyPath[] {
  const pathOf = (uuid: string): string => mounts.byUuid(uuid)?.path ?? uuid;
  return [
    path('schedule', {
      synopsis: 'What the server will do later.',
      description:
        'Jobs of all engines with their last errors, and the outside systems whose circuit breaker is open because they keep failing.',
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
            circuits: outside.breakers.open().map(({ target, failures, until }) => {
              const slash = target.indexOf('/');
              return { target: pathOf(target.slice(0, slash)) + target.slice(slash + 1), failures, until: until.toISOString() };
            }),
          },
        };
      },
    }),
    path('schedule/retry', {
      synopsis: 'Runs a job now.',
      description: 'Runs now instead of at the next attempt, even while the circuit breaker of its outside system is open.',
      access: 'sudo',
      fields: {
        mount: f.string('The path of its mount.', { required: true }),
        kind: f.string('As `sys/schedule` shows it.', { required: true }),
        id: f.string('As `sys/schedule` shows it.', { required: true }),
      },
    }).update({
      summary: 'Runs a job now.',
      response: NoContent,
      handle: async ({ data: { mount, kind, id } }) => {
        const at = mount.endsWith('/') ? mount : `${mount}/`;
        const uuid = mounts.at(at)?.uuid;
        if (uuid === undefined) throw new BadRequest(`mount: nothing is mounted at ${JSON.stringify(at)}`);
        if (!(await jobs.runSoon(uuid, kind, id)))
          throw new NotFound(`${at} has no job ${JSON.stringify(id)} of kind ${JSON.stringify(kind)}`);
        return undefined;
      },
    }),
    path('journal', {
      synopsis: 'Outside changes that are not finished.',
      description: 'What is not settled is undone at `next_attempt`. `leaves` is what may stand outside until then.',
      access: 'sudo',
      fields: {},
    }).read({
      summary: 'Shows the journal.',
      handle: async () => ({ data: { intents: (await journal.list()).map((intent) => intentData(intent, pathOf(intent.mount))) } }),
    }),
    path('journal/{id:any}', {
      synopsis: 'One outside change that is not finished.',
      description:
        'Deleting it forgets the change without undoing it, for outside systems that are gone for good. A change that may still be under way is neither retried nor forgotten.',
      access: 'sudo',
      fields: { id: f.name('As `sys/journal` shows it.') },
    })
      .read({
        summary: 'Shows the entry.',
        handle: async ({ data }) => {
          const intent = await journal.find(data.id);
          return intent && { data: intentData(intent, pathOf(intent.mount)) };
        },
      })
      .delete({
        summary: 'Forgets the change, and answers what may be left outside.',
        handle: async ({ data }) => {
          const thing = await journal.forget(data.id);
          const left = thing ? [thing] : [];
          const warning = leftWarning(left);
          return { data: { left_outside: leftData(left) }, ...(warning === undefined ? {} : { warnings: [warning] }) };
        },
      }),
    path('journal/{id:any}/retry', {
      synopsis: 'Tries to undo or finish a change now.',
      description:
        'Runs now instead of at the next attempt, even while the circuit breaker of its outside system is open. A failure is answered with its reason.',
      access: 'sudo',
      fields: { id: f.name('As `sys/journal` shows it.') },
    }).update({
      summary: 'Tries again now.',
      response: NoContent,
      handle: async ({ data, signal }) => {
        await journal.retry(data.id, signal);
        return undefined;
      },
    }),
  ];
}

function intentData(intent: IntentStatus, mount: string): Record<string, unknown> {
  return {
    id: intent.id,
    mount,
    kind: intent.kind,
    opened: intent.opened.toISOString(),
    attempts: intent.attempts,
    next_attempt: intent.nextAttempt.toISOString(),
    last_error: intent.lastError ? { message: intent.lastError.message, at: intent.lastError.at.toISOString() } : null,
    leaves: intent.leaves ? leftData([intent.leaves])[0] : null,
  };
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
