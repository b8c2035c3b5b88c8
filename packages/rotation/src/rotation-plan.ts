import { BadRequest, f } from '@strongroom/engine-sdk';
import { Cron } from 'croner';
import { Type, type Static, type TObject } from 'typebox';

/** When a credential is rotated by itself. Spread into the record of a role. */
export const rotationPlanFields = {
  /** Seconds; 0 where a schedule is set, or nothing is. */
  rotation_period: Type.Number(),
  /** Five fields, in UTC; '' for none. */
  rotation_schedule: Type.String(),
  /** Seconds after the scheduled time within which a rotation may still begin; 0 for no limit. */
  rotation_window: Type.Number(),
  /** Rotated on demand alone. */
  disable_automated_rotation: Type.Optional(Type.Boolean()),
  /** Seconds from the first rotation to the second, in place of the period: it spreads roles that are made at the same moment. */
  first_rotation_offset: Type.Optional(Type.Number()),
};
export type RotationPlan = Static<TObject<typeof rotationPlanFields>>;

/** Rotated on demand alone. */
export const manualPlan: RotationPlan = { rotation_period: 0, rotation_schedule: '', rotation_window: 0, disable_automated_rotation: true };

/** The fields of a path that set a plan. */
export const rotationPlanParameters = {
  rotation_period: f.duration('Time between rotations. Excludes rotation_schedule.'),
  rotation_schedule: f.string('When to rotate: minute, hour, day of month, month, day of week; in UTC. Excludes rotation_period.'),
  rotation_window: f.duration('How long after its scheduled time a rotation may still begin, at least 1 h; only with rotation_schedule.'),
  disable_automated_rotation: f.bool('Rotate on demand alone.'),
  first_rotation_offset: f.duration(
    'Time from the first rotation to the second, in place of the period, so that roles made together do not fall due together; only at creation.',
  ),
};

/** What of a plan an answer shows. */
export const visiblePlanFields = {
  rotation_period: Type.Optional(Type.Number({ description: 'Seconds.' })),
  rotation_schedule: Type.Optional(Type.String()),
  rotation_window: Type.Optional(Type.Number({ description: 'Seconds.' })),
  disable_automated_rotation: Type.Optional(Type.Boolean()),
};

export interface SentPlan {
  readonly rotation_period?: number | undefined;
  readonly rotation_schedule?: string | undefined;
  readonly rotation_window?: number | undefined;
  readonly disable_automated_rotation?: boolean | undefined;
  readonly first_rotation_offset?: number | undefined;
}

export interface PlanRules {
  /** The shortest period, in seconds; default 5. */
  readonly shortestPeriod?: number;
}

const SHORTEST_WINDOW = 3_600;
/** What fields of standard cron are made of, besides names; parsers know more, such as L, W, # and ?. */
const STANDARD = /^[\d*,/-]*$/;
const NAMES = /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)\b/gi;

/** The plan after a write: what was sent replaces the other kind. Seconds; schedules are in UTC. @throws BadRequest */
export function planOf(before: RotationPlan | undefined, sent: SentPlan, { shortestPeriod = 5 }: PlanRules = {}): RotationPlan {
  const schedule = sent.rotation_schedule || undefined;
  if (sent.rotation_period !== undefined && schedule !== undefined) {
    throw new BadRequest(
      'mutually exclusive fields rotation_period and rotation_schedule were both specified; only one of them can be provided',
    );
  }
  if (before && sent.first_rotation_offset !== undefined) {
    throw new BadRequest('first_rotation_offset has no effect on updates: it counts from the first rotation');
  }
  const offset = sent.first_rotation_offset ?? before?.first_rotation_offset;
  const manual = sent.disable_automated_rotation ?? before?.disable_automated_rotation ?? false;
  const extra = { disable_automated_rotation: manual, ...(offset ? { first_rotation_offset: offset } : {}) };
  if (sent.rotation_period !== undefined) {
    if (sent.rotation_window) throw new BadRequest('rotation_window is invalid with use of rotation_period');
    if (sent.rotation_period < shortestPeriod) throw new BadRequest(`rotation_period must be ${shortestPeriod} seconds or more`);
    return { rotation_period: sent.rotation_period, rotation_schedule: '', rotation_window: 0, ...extra };
  }
  if (sent.rotation_schedule === '' && before?.rotation_schedule) {
    throw new BadRequest('rotation_schedule must not be empty: send another schedule, or a rotation_period in its place');
  }
  const effective = schedule ?? before?.rotation_schedule ?? '';
  if (effective === '') {
    if (sent.rotation_window) throw new BadRequest('rotation_window is only valid with rotation_schedule');
    if (before && (before.rotation_period > 0 || manual)) {
      const { rotation_period } = before;
      return { rotation_period, rotation_schedule: '', rotation_window: 0, ...extra };
    }
    if (!manual) throw new BadRequest('rotation_period is required to create static accounts');
    return { rotation_period: 0, rotation_schedule: '', rotation_window: 0, ...extra };
  }
  cronOf(effective);
  const window = sent.rotation_window ?? before?.rotation_window ?? 0;
  if (sent.rotation_window !== undefined && window < SHORTEST_WINDOW) throw new BadRequest('rotation_window must be 1 hour or more');
  return { rotation_period: 0, rotation_schedule: effective, rotation_window: window, ...extra };
}

/** The next rotation after one at `from`; milliseconds, 0 for none. `first`: the one at `from` was the first. */
export function nextRotation(plan: RotationPlan, from: number, first = false): number {
  if (plan.disable_automated_rotation) return 0;
  if (first && plan.first_rotation_offset) return from + plan.first_rotation_offset * 1_000;
  if (plan.rotation_schedule === '') return plan.rotation_period === 0 ? 0 : from + plan.rotation_period * 1_000;
  const next = cronOf(plan.rotation_schedule).nextRun(new Date(from));
  if (!next) throw new BadRequest(`could not parse rotation_schedule: ${plan.rotation_schedule} never comes`);
  return next.getTime();
}

/** Whether a rotation that was planned for `planned` must wait for the next time of its schedule. */
export function windowHasPassed(plan: RotationPlan, planned: number, now: number): boolean {
  return plan.rotation_window > 0 && planned > 0 && now > planned + plan.rotation_window * 1_000;
}

export function samePlan(a: RotationPlan, b: RotationPlan): boolean {
  return (
    a.rotation_period === b.rotation_period &&
    a.rotation_schedule === b.rotation_schedule &&
    (a.disable_automated_rotation ?? false) === (b.disable_automated_rotation ?? false)
  );
}

/** The plan as clients see it: the fields of the kind that is set. */
export function visiblePlan(plan: RotationPlan): {
  rotation_period?: number;
  rotation_schedule?: string;
  rotation_window?: number;
  disable_automated_rotation?: boolean;
} {
  const manual = plan.disable_automated_rotation ? { disable_automated_rotation: true } : {};
  if (plan.rotation_schedule === '') return plan.rotation_period === 0 ? manual : { rotation_period: plan.rotation_period, ...manual };
  return {
    rotation_schedule: plan.rotation_schedule,
    ...(plan.rotation_window > 0 ? { rotation_window: plan.rotation_window } : {}),
    ...manual,
  };
}

function cronOf(schedule: string): Cron {
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) throw new BadRequest(`could not parse rotation_schedule: expected exactly 5 fields, found ${fields.length}`);
  const foreign = fields.find((field) => !STANDARD.test(field.replaceAll(NAMES, '')));
  if (foreign !== undefined) {
    throw new BadRequest(
      `could not parse rotation_schedule: ${JSON.stringify(foreign)} is not standard cron, which has numbers, names, * , - and /`,
    );
  }
  let cron: Cron;
  try {
    cron = new Cron(fields.join(' '), { timezone: 'UTC', paused: true, mode: '5-part' });
  } catch (error) {
    throw new BadRequest(`could not parse rotation_schedule: ${(error as Error).message}`);
  }
  if (!cron.nextRun()) throw new BadRequest('could not parse rotation_schedule: it never comes');
  return cron;
}
