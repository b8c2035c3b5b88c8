import { Type, type Static } from 'typebox';
import type { TotpParameters } from './totp-parameters.ts';

/** Used steps are kept this long behind the current one, which is beyond any skew, also that of the servers' clocks. */
const KEPT_STEPS = 10;
const LONGEST_PAUSE = 3_600_000;
const FORGOTTEN_AFTER = 86_400_000;

/** What was tried with a key. Times are milliseconds since the epoch. */
export const TriedCodes = Type.Object({
  /** Steps whose code was used, as far as that code could still come. */
  used_steps: Type.Array(Type.Number()),
  /** Wrong codes since the last right one, or since a day without any. */
  failures: Type.Number(),
  last_failure: Type.Optional(Type.Number()),
  /** Nothing is compared until then. */
  paused_until: Type.Optional(Type.Number()),
});
/** What was tried with a key. */
export type TriedCodes = Static<typeof TriedCodes>;

/** The record after the code of a step was accepted. */
export function withUse<R extends TriedCodes>(record: R, step: number): R {
  const { last_failure: _, paused_until: _ended, ...rest } = record;
  const used_steps = [...record.used_steps.filter((other) => other > step - KEPT_STEPS), step];
  return { ...rest, failures: 0, used_steps } as TriedCodes as R;
}

/** The record after a wrong code. Every `allowed` wrong codes in a row lead to a pause: one period at first, then twice as long each time. */
export function withFailure<R extends TriedCodes & Pick<TotpParameters, 'period'>>(record: R, allowed: number, now: number): R {
  const forgotten = now - (record.last_failure ?? 0) > FORGOTTEN_AFTER;
  const failures = (forgotten ? 0 : record.failures) + 1;
  const counted = { ...record, failures, last_failure: now };
  if (failures % allowed !== 0) return counted;
  const pauses = failures / allowed;
  return { ...counted, paused_until: now + Math.min(record.period * 1_000 * 2 ** (pauses - 1), LONGEST_PAUSE) };
}
