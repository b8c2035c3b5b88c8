import { BadRequest } from '@strongroom/engine-sdk';
import { planOf, rotationPlanParameters, type PlanRules, type RotationPlan, type SentPlan } from './rotation-plan.ts';

const { first_rotation_offset: _ofRoles, ...parameters } = rotationPlanParameters;

/** The fields of a path that plan the rotation of a root credential. */
export const rootPlanParameters = parameters;

/** Rotated on demand alone, until a period or a schedule is set. */
const noPlan: RotationPlan = { rotation_period: 0, rotation_schedule: '', rotation_window: 0 };

/** Seconds. A root credential that changes more often keeps locking out whoever still logs in with it. */
const SHORTEST_PERIOD = 60;

/**
 * The plan of a root credential after a write. What is left out stays; a period replaces a schedule, and a schedule a period; a period of 0 or an empty
 * schedule removes what there was. `disable_automated_rotation` pauses a plan and keeps it. @throws BadRequest
 */
export function rootPlanOf(
  before: RotationPlan = noPlan,
  sent: Omit<SentPlan, 'first_rotation_offset'>,
  { shortestPeriod = SHORTEST_PERIOD }: PlanRules = {},
): RotationPlan {
  const period = sent.rotation_period ?? (sent.rotation_schedule ? 0 : before.rotation_period);
  const schedule = sent.rotation_schedule ?? (sent.rotation_period ? '' : before.rotation_schedule);
  const disable_automated_rotation = sent.disable_automated_rotation ?? before.disable_automated_rotation ?? false;
  if (period === 0 && schedule === '') {
    if (sent.rotation_window) throw new BadRequest('rotation_window is only valid with rotation_schedule');
    return { ...noPlan, disable_automated_rotation };
  }
  const window = sent.rotation_window ?? (schedule === before.rotation_schedule ? before.rotation_window : 0);
  return planOf(
    undefined,
    {
      disable_automated_rotation,
      ...(period === 0 ? {} : { rotation_period: period }),
      ...(schedule === '' ? {} : { rotation_schedule: schedule }),
      ...(window === 0 ? {} : { rotation_window: window }),
    },
    { shortestPeriod },
  );
}

/** Whether a plan rotates by itself: it has a period or a schedule, and is not paused. */
export function rotatesByItself(plan: RotationPlan | undefined): boolean {
  if (plan === undefined || plan.disable_automated_rotation) return false;
  return plan.rotation_period > 0 || plan.rotation_schedule !== '';
}
