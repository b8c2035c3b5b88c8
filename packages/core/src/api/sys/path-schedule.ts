import { BadRequest, boundsOf, f, NotFound, pageFields, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { OutsideSystems } from '../../kernel/work/outside-systems.ts';
import type { Jobs, ShownJob } from '../../services/jobs/jobs.ts';
import type { MountTable } from '../../services/mounts/mount-table.ts';
import { mountAsked, OutsideSystem, statusData, systemData, WorkStatus } from './work-data.ts';

export interface SchedulePathDeps {
  readonly jobs: Jobs;
  readonly outside: OutsideSystems;
  readonly mounts: MountTable;
}

const Job = Type.Object({
  job: Type.String({ description: 'Names the job among all: `after` and `sys/schedule/run` take it.' }),
  mount: Type.String({ description: 'The path of the mount, or its uuid where it is gone.' }),
  kind: Type.String(),
  id: Type.String({ description: 'The id that the engine gave it.' }),
  noun: Type.Union([Type.String(), Type.Null()], {
    description: 'What the job is for, such as `static role`; null where its engine does not say.',
  }),
  name: Type.Union([Type.String(), Type.Null()], { description: 'The name of what it is for, as operators know it.' }),
  path: Type.Union([Type.String(), Type.Null()], { description: 'The path of what it is for.' }),
  system: OutsideSystem,
  ...WorkStatus.properties,
});

const Circuit = Type.Object({ target: Type.String(), failures: Type.Integer(), until: Type.String() });

/** `sys/schedule`: what is due, what failed and why. */
export function schedulePaths({ jobs, outside, mounts }: SchedulePathDeps): AnyPath[] {
  const pathOf = (uuid: string): string => mounts.byUuid(uuid)?.path ?? uuid;
  const dataOf = ({ key, mount, kind, id, about, target, status }: ShownJob): Static<typeof Job> => ({
    job: key,
    mount: pathOf(mount),
    kind,
    id,
    noun: about?.noun ?? null,
    name: about?.name ?? null,
    path: about ? pathOf(mount) + about.path : null,
    system: systemData(mounts.byUuid(mount), target),
    ...statusData(status),
  });
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
