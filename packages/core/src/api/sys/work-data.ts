import type { JobStatus, JobTry } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { outsideSubject } from '../../kernel/mounts/outside-subject.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { ShownJob } from '../../services/jobs/jobs.ts';
import type { MountTable } from '../../services/mounts/mount-table.ts';

/** A failure as answers show it; null for none. */
export const Failure = Type.Union([Type.Object({ message: Type.String(), at: Type.String() }), Type.Null()]);

export const Try = Type.Object(
  {
    at: Type.String({ description: 'When it ended.' }),
    took_ms: Type.Integer(),
    message: Type.Optional(Type.String({ description: 'Why it failed; absent for a success.' })),
    request_id: Type.Optional(Type.String({ description: 'The request that asked for it, where one did.' })),
  },
  { description: 'One try.' },
);

/** An outside system that work asks; null for none. */
export const OutsideSystem = Type.Union([
  Type.Object({
    target: Type.String({ description: 'What the engine calls it; `sys/circuits/reset` takes it.' }),
    name: Type.String({ description: 'For people.' }),
    path: Type.Optional(Type.String({ description: 'The path of its settings.' })),
  }),
  Type.Null(),
]);

/** How work stands. */
export const WorkStatus = Type.Object({
  state: Type.Union([Type.Literal('waiting'), Type.Literal('running'), Type.Literal('failing')]),
  attempts: Type.Integer({ description: 'Failed attempts since the last success.' }),
  next_attempt: Type.String(),
  last_success: Type.Union([Type.String(), Type.Null()]),
  last_error: Failure,
  failing_since: Type.Union([Type.String(), Type.Null()]),
  tries: Type.Array(Try, { description: 'The last tries, the oldest first, as far as they are kept.' }),
});

/** A job, as `sys/schedule` shows it. */
export const Job = Type.Object({
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

export function failureData(error: { readonly message: string; readonly at: Date } | undefined): Static<typeof Failure> {
  return error ? { message: error.message, at: error.at.toISOString() } : null;
}

export function tryData({ at, took, message, request }: JobTry): Static<typeof Try> {
  return {
    at: at.toISOString(),
    took_ms: Math.max(0, Math.round(took)),
    ...(message === undefined ? {} : { message }),
    ...(request === undefined ? {} : { request_id: request }),
  };
}

export function statusData(status: JobStatus): Static<typeof WorkStatus> {
  return {
    state: status.state,
    attempts: status.attempts,
    next_attempt: status.nextAttempt.toISOString(),
    last_success: status.lastSuccess?.toISOString() ?? null,
    last_error: failureData(status.lastError),
    failing_since: status.failingSince?.toISOString() ?? null,
    tries: (status.tries ?? []).map(tryData),
  };
}

/** `mount`: undefined where it is gone. */
export function jobData({ key, mount: uuid, kind, id, about, target, status }: ShownJob, mount: Mount | undefined): Static<typeof Job> {
  const path = mount?.path ?? uuid;
  return {
    job: key,
    mount: path,
    kind,
    id,
    noun: about?.noun ?? null,
    name: about?.name ?? null,
    path: about ? path + about.path : null,
    system: systemData(mount, target),
    ...statusData(status),
  };
}

/** `mount`: undefined where it is gone. */
export function systemData(mount: Mount | undefined, target: string | undefined): Static<typeof OutsideSystem> {
  if (!target) return null;
  const subject = mount && outsideSubject(mount, target);
  if (!mount || !subject) return { target, name: target };
  return { target, name: `${subject.noun} ${subject.name}`.trim(), path: mount.path + subject.path };
}

/** The mount that a list is limited to: undefined for all mounts, `none` where nothing is mounted there. */
export function mountAsked(mounts: Pick<MountTable, 'at'>, asked: string | undefined): Mount | 'none' | undefined {
  if (!asked) return undefined;
  return mounts.at(asked.endsWith('/') ? asked : `${asked}/`) ?? 'none';
}
