import { type AnyPath, BadRequest, boundsOf, f, NoContent, NotFound, pageFields, path } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { OutsideSystems } from '../../kernel/work/outside-systems.ts';
import type { Jobs, ShownJob } from '../../services/jobs/jobs.ts';
import type { MountTable } from '../../services/mounts/mount-table.ts';
import { Job, jobData, mountAsked } from './work-data.ts';

export interface SchedulePathDeps {
  readonly jobs: Jobs;
  readonly outside: OutsideSystems;
  readonly mounts: MountTable;
}

const Circuit = Type.Object({ target: Type.String(), failures: Type.Integer(), until: Type.String() });

/** `sys/schedule`: what is due, what failed and why. */
export function schedulePaths({ jobs, outside, mounts }: SchedulePathDeps): AnyPath[] {
  const pathOf = (uuid: string): string => mounts.byUuid(uuid)?.path ?? uuid;
  const dataOf = (job: ShownJob): Static<typeof Job> => jobData(job, mounts.byUuid(job.mount));
  return [
    path('schedule', {
      synopsis: 'What the server will do later.',
      description:
        'Jobs of all engines with their last errors, and the outside systems whose circuit breaker is open because they keep failing.',
      access: 'sudo',
      fields: {
        ...pageFields,
        failing: f.bool('Only jobs whose last try failed.', { default: false }),
        mount: f.string('Only jobs of this mount path.'),
      },
    }).read({
      summary: 'Shows scheduled jobs.',
      response: Type.Object({ jobs: Type.Array(Job), circuits: Type.Array(Circuit) }),
      handle: async ({ data }) => {
        const asked = mountAsked(mounts, data.mount);
        const found = asked === 'none' ? [] : await jobs.list({ ...boundsOf(data), mount: asked?.uuid, failing: data.failing });
        return {
          data: {
            jobs: found.map(dataOf),
            circuits: outside.breakers.open().map(({ target, failures, until }) => {
              const slash = target.indexOf('/');
              return { target: pathOf(target.slice(0, slash)) + target.slice(slash + 1), failures, until: until.toISOString() };
            }),
          },
        };
      },
    }),
    path('schedule/retry', {
      synopsis: 'Makes a job due now.',
      description:
        'Runs now instead of at the next attempt, even while the circuit breaker of its outside system is open. The answer does not wait for it.',
      access: 'sudo',
      fields: {
        mount: f.string('The path of its mount.', { required: true }),
        kind: f.string('As `sys/schedule` shows it.', { required: true }),
        id: f.string('As `sys/schedule` shows it.', { required: true }),
      },
    }).update({
      summary: 'Makes a job due now.',
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
    path('schedule/run', {
      synopsis: 'Runs a job now and waits for it.',
      description:
        'Runs even while the circuit breaker of its outside system is open. A failure is answered with its reason. A job does what is due: one that waits for the time of a rotation does nothing yet.',
      access: 'sudo',
      fields: { job: f.string('As `sys/schedule` shows it.', { required: true }) },
    }).update({
      summary: 'Runs a job now.',
      response: Type.Object({
        job: Type.Union([Job, Type.Null()], { description: 'The job after the run; null where it is done for good.' }),
      }),
      handle: async ({ data, signal }) => {
        const after = await jobs.runNow(data.job, signal);
        return { data: { job: after ? dataOf(after) : null } };
      },
    }),
  ];
}
