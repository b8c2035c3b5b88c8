import { BadRequest } from '@strongroom/engine-sdk';
import { Cron } from 'croner';
import type { StaticRoleRecord } from './records.ts';

/** What of a static role says when it is rotated. */
export type RotationPlan = Pick<StaticRoleRecord, 'rotation_period' | 'rotation_schedule' | 'rotation_window'>;

const SHORTEST_PERIOD = 5;
const SHORTEST_WINDOW = 3_600;

export interface SentPlan {
  readonly rotation_period: number | undefined;
  readonly rotation_schedule: string | undefined;
  readonly rotation_window: number | undefined;
}

/** The plan after a write: what was sent replaces the other kind. Seconds; schedules are in UTC. @throws BadRequest */
export function planOf(before: RotationPlan | undefined, sent: SentPlan): RotationPlan {
  const schedule = sent.rotation_schedule || undefined;
  if (sent.rotation_period !== undefined && schedule !== undefined) {
    throw new BadRequest(
      'mutually exclusive fields rotation_period and rotation_schedule were both specified; only one of them can be provided',
    );
  }
  if (sent.rotation_period !== undefined) {
    if (sent.rotation_window) throw new BadRequest('rotation_window is invalid with use of rotation_period');
    if (sent.rotation_period < SHORTEST_PERIOD) throw new BadRequest('rotation_period must be 5 seconds or more');
    return { rotation_period: sent.rotation_period, rotation_schedule: '', rotation_window: 0 };
  }
  const effective = schedule ?? before?.rotation_schedule ?? '';
  if (effective === '') {
    if (sent.rotation_window) throw new BadRequest('rotation_window is only valid with rotation_schedule');
    if (!before) throw new BadRequest('rotation_period is required to create static accounts');
    return before;
  }
  cronOf(effective);
  const window = sent.rotation_window ?? before?.rotation_window ?? 0;
  if (sent.rotation_window !== undefined && window < SHORTEST_WINDOW) throw new BadRequest('rotation_window must be 1 hour or more');
  return { rotation_period: 0, rotation_schedule: effective, rotation_window: window };
}

/** The next rotation after one at `from`; milliseconds. */
export function nextRotation(plan: RotationPlan, from: number): number {
  if (plan.rotation_schedule === '') return from + plan.rotation_period * 1_000;
  const next = cronOf(plan.rotation_schedule).nextRun(new Date(from));
  if (!next) throw new BadRequest(`could not parse rotation_schedule: ${plan.rotation_schedule} never comes`);
  return next.getTime();
}

/** Whether a rotation that was planned for `planned` must wait for the next time of its schedule. */
export function windowHasPassed(plan: RotationPlan, planned: number, now: number): boolean {
  return plan.rotation_window > 0 && now > planned + plan.rotation_window * 1_000;
}

function cronOf(schedule: string): Cron {
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) throw new BadRequest(`could not parse rotation_schedule: expected exactly 5 fields, found ${fields.length}`);
  let cron: Cron;
  try {
    cron = new Cron(fields.join(' '), { timezone: 'UTC', paused: true, mode: '5-part' });
  } catch (error) {
    throw new BadRequest(`could not parse rotation_schedule: ${(error as Error).message}`);
  }
  if (!cron.nextRun()) throw new BadRequest('could not parse rotation_schedule: it never comes');
  return cron;
}
