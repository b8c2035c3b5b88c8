import { Timestamp, type JobStatus } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { RotationState } from './rotation-state.ts';

const When = Type.Union([Timestamp, Type.Null()]);

/** Where the rotation of a credential stands, as clients see it. Times in RFC 3339. */
export const RotationStatus = Type.Object({
  state: Type.Union(
    [
      Type.Literal('idle'),
      Type.Literal('waiting'),
      Type.Literal('running'),
      Type.Literal('unsettled'),
      Type.Literal('failing'),
      Type.Literal('failed'),
      Type.Literal('taken_over'),
    ],
    {
      description:
        'idle: none is planned. waiting: the next one has a time. running. unsettled: a change was begun whose outcome is not known. ' +
        'failing: tried again and again, next at next_attempt. failed: the last one failed; the next is at next_attempt, if there is one. ' +
        'taken_over: another manager has the account, see managed_by, and it is not rotated here.',
    },
  ),
  attempts: Type.Integer({ description: 'Failed tries since the last success.' }),
  next_attempt: When,
  last_success: When,
  last_error: Type.Union([Type.Object({ message: Type.String(), time: Timestamp }), Type.Null()]),
  login: Type.Optional(
    Type.String({
      description:
        'What a login with the stored credentials found at the last rotation; absent where one is accepted. refused: none of them is. ' +
        'unreachable: a login was tried without an answer. inconclusive: no login can tell. not_tried: the rotation failed before a login.',
    }),
  ),
  managed_by: Type.Optional(Type.String({ description: 'Who manages the account now, where that is somebody else.' })),
});
export type RotationStatus = Static<typeof RotationStatus>;

/** `managedBy`: who manages the account in place of this record. */
export function rotationStatus(state: RotationState<unknown>, job: JobStatus | undefined, managedBy?: string): RotationStatus {
  const stored = state.last_error && { message: state.last_error.message, at: state.last_error.at };
  const ofJob = job?.lastError && job.attempts > 0 ? { message: job.lastError.message, at: job.lastError.at.getTime() } : undefined;
  const error = stored && ofJob ? (ofJob.at >= stored.at ? ofJob : stored) : (ofJob ?? stored);
  return {
    state: managedBy === undefined ? nameOf(state, job, error !== undefined) : 'taken_over',
    attempts: job?.attempts ?? 0,
    next_attempt: job?.nextAttempt.toISOString() ?? null,
    last_success: state.last_rotation === 0 ? null : new Date(state.last_rotation).toISOString(),
    last_error: error ? { message: error.message, time: new Date(error.at).toISOString() } : null,
    ...(state.login === undefined || state.login === 'accepted' ? {} : { login: state.login }),
    ...(managedBy === undefined ? {} : { managed_by: managedBy }),
  };
}

const troubles: ReadonlySet<RotationStatus['state']> = new Set(['failing', 'failed', 'unsettled', 'taken_over']);

/** Whether the rotation belongs into a list of what is in trouble. */
export function isInTrouble(status: RotationStatus): boolean {
  return troubles.has(status.state) || status.attempts > 0;
}

function nameOf(state: RotationState<unknown>, job: JobStatus | undefined, failed: boolean): RotationStatus['state'] {
  if (job?.state === 'running') return 'running';
  if (job?.state === 'failing') return 'failing';
  if (state.pending) return 'unsettled';
  if (failed) return 'failed';
  return job ? 'waiting' : 'idle';
}
