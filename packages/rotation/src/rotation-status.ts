import type { JobStatus } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { RotationState } from './rotation-state.ts';

const When = Type.Union([Type.String(), Type.Null()]);

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
    ],
    {
      description:
        'idle: none is planned. waiting: the next one has a time. running. unsettled: a change was begun whose outcome is not known. ' +
        'failing: tried again and again, next at next_attempt. failed: the last one failed; the next is at next_attempt, if there is one.',
    },
  ),
  attempts: Type.Integer({ description: 'Failed tries since the last success.' }),
  next_attempt: When,
  last_success: When,
  last_error: Type.Union([Type.Object({ message: Type.String(), time: Type.String() }), Type.Null()]),
});
export type RotationStatus = Static<typeof RotationStatus>;

export function rotationStatus(state: RotationState<unknown>, job: JobStatus | undefined): RotationStatus {
  const stored = state.last_error && { message: state.last_error.message, at: state.last_error.at };
  const ofJob = job?.lastError && job.attempts > 0 ? { message: job.lastError.message, at: job.lastError.at.getTime() } : undefined;
  const error = stored && ofJob ? (ofJob.at >= stored.at ? ofJob : stored) : (ofJob ?? stored);
  return {
    state: nameOf(state, job, error !== undefined),
    attempts: job?.attempts ?? 0,
    next_attempt: job?.nextAttempt.toISOString() ?? null,
    last_success: state.last_rotation === 0 ? null : new Date(state.last_rotation).toISOString(),
    last_error: error ? { message: error.message, time: new Date(error.at).toISOString() } : null,
  };
}

/** Whether the rotation belongs into a list of what is in trouble. */
export function isInTrouble(status: RotationStatus): boolean {
  return status.state === 'failing' || status.state === 'failed' || status.state === 'unsettled' || status.attempts > 0;
}

function nameOf(state: RotationState<unknown>, job: JobStatus | undefined, failed: boolean): RotationStatus['state'] {
  if (job?.state === 'running') return 'running';
  if (job?.state === 'failing') return 'failing';
  if (state.pending) return 'unsettled';
  if (failed) return 'failed';
  return job ? 'waiting' : 'idle';
}
