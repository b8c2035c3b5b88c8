import { Type, type Static } from 'typebox';
import type { CircuitStatus } from './circuit.ts';
import type { LastFailure } from './watched-circuit.ts';

const When = Type.Union([Type.String(), Type.Null()]);

/** A circuit breaker as answers show it. */
export const ShownCircuit = Type.Object({
  state: Type.Union([Type.Literal('closed'), Type.Literal('open'), Type.Literal('half-open')]),
  failures: Type.Integer({ description: 'In a row.' }),
  since: When,
  next_try: When,
});

/** The last failure of an outside system as answers show it. */
export const ShownFailure = Type.Union([Type.Object({ message: Type.String(), time: Type.String() }), Type.Null()]);

/** A circuit breaker for an answer with `ShownCircuit`. */
export function shownCircuit({ state, failures, since, nextTry }: CircuitStatus): Static<typeof ShownCircuit> {
  return { state, failures, since: since?.toISOString() ?? null, next_try: nextTry?.toISOString() ?? null };
}

/** A failure for an answer with `ShownFailure`; null where there is none. */
export function shownFailure(last: LastFailure | undefined): Static<typeof ShownFailure> {
  return last === undefined ? null : { message: last.message, time: new Date(last.at).toISOString() };
}

/** Why no call is made to an outside system; undefined while calls are made. */
export function reasonToWait({ state, failures, nextTry }: CircuitStatus, last: LastFailure | undefined): string | undefined {
  if (state === 'closed') return undefined;
  const why = last === undefined ? '' : `: ${last.message}`;
  return `its circuit breaker is open until ${nextTry!.toISOString()} after ${failures} failures in a row${why}`;
}
