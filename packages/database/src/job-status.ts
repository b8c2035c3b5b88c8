import type { JobStatus } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

const When = Type.Union([Type.String(), Type.Null()]);

/** Where scheduled work stands, as clients see it. Times in RFC 3339. */
export const StatusBlock = Type.Object({
  state: Type.String({ description: 'waiting, running, failing, or unsettled: a change was begun whose outcome is not known.' }),
  attempts: Type.Integer({ description: 'Failed tries since the last success.' }),
  next_attempt: When,
  last_success: When,
  last_error: Type.Union([Type.Object({ message: Type.String(), time: Type.String() }), Type.Null()]),
});
export type StatusBlock = Static<typeof StatusBlock>;

export function statusBlock(status: JobStatus | undefined, lastSuccess: number, unsettled: boolean): StatusBlock {
  const last = status?.lastSuccess?.getTime() ?? 0;
  const latest = Math.max(last, lastSuccess);
  return {
    state: unsettled && status?.state !== 'running' && status?.state !== 'failing' ? 'unsettled' : (status?.state ?? 'waiting'),
    attempts: status?.attempts ?? 0,
    next_attempt: status?.nextAttempt.toISOString() ?? null,
    last_success: latest === 0 ? null : new Date(latest).toISOString(),
    last_error: status?.lastError ? { message: status.lastError.message, time: status.lastError.at.toISOString() } : null,
  };
}
