import { BadRequest, f } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

/** How much a connection may be asked at a time, and when its circuit breaker opens. */
export const ConnectionLimits = Type.Object({
  queue_limit: Type.Integer(),
  /** Seconds, as all times here. */
  call_deadline: Type.Number(),
  circuit_failures: Type.Integer(),
  circuit_pause: Type.Number(),
});
export type ConnectionLimits = Static<typeof ConnectionLimits>;

/** Shorter than any age at which the journal undoes what a call may still be at work on. */
const LONGEST_DEADLINE = 45;
const LONGEST_PAUSE = 3_600;

export const USUAL_LIMITS: ConnectionLimits = { queue_limit: 256, call_deadline: LONGEST_DEADLINE, circuit_failures: 5, circuit_pause: 5 };

/** The fields of a connection that set them. */
export const connectionLimitFields = {
  queue_limit: f.int(
    `Requests that may wait for a free connection of the pool; more are answered 503 at once. Default ${USUAL_LIMITS.queue_limit}.`,
    { minimum: 0 },
  ),
  call_deadline: f.duration(
    `How long the database may take for one call: 1 s to ${LONGEST_DEADLINE} s. Default ${USUAL_LIMITS.call_deadline} s.`,
    {
      minimum: 1,
      maximum: LONGEST_DEADLINE,
    },
  ),
  circuit_failures: f.int(
    'After this many failures to reach the database in a row, requests fail at once for a while, and background work waits; 0 for never. ' +
      `Default ${USUAL_LIMITS.circuit_failures}.`,
    { minimum: 0 },
  ),
  circuit_pause: f.duration(
    `For how long at first; it doubles with every trial that fails, up to a minute. Default ${USUAL_LIMITS.circuit_pause} s.`,
    { minimum: 1, maximum: LONGEST_PAUSE },
  ),
};

export type SentLimits = { readonly [K in keyof ConnectionLimits]: number | undefined };

/** What was sent, over what was there. @throws BadRequest */
export function limitsAfter(before: ConnectionLimits | undefined, sent: SentLimits): ConnectionLimits {
  const base = before ?? USUAL_LIMITS;
  const limits = {
    queue_limit: sent.queue_limit ?? base.queue_limit,
    call_deadline: sent.call_deadline ?? base.call_deadline,
    circuit_failures: sent.circuit_failures ?? base.circuit_failures,
    circuit_pause: sent.circuit_pause ?? base.circuit_pause,
  };
  within('queue_limit', limits.queue_limit, 0, Infinity);
  within('call_deadline', limits.call_deadline, 1, LONGEST_DEADLINE);
  within('circuit_failures', limits.circuit_failures, 0, Infinity);
  within('circuit_pause', limits.circuit_pause, 1, LONGEST_PAUSE);
  return limits;
}

function within(field: string, value: number, least: number, most: number): void {
  if (value >= least && value <= most) return;
  throw new BadRequest(most === Infinity ? `${field} must be ${least} or more` : `${field} must be between ${least} and ${most}`);
}
