import type { RotationState } from './rotation-state.ts';

/** Seconds until the next rotation, as a `ttl`; 0 where one is due, or none is planned. `now` in milliseconds. */
export function secondsToRotation(
  { next_rotation, demanded }: Pick<RotationState<unknown>, 'next_rotation' | 'demanded'>,
  now: number,
): number {
  return demanded === undefined ? Math.max(0, Math.ceil((next_rotation - now) / 1_000)) : 0;
}

/** The warning beside a credential that is in doubt, see `Rotation.current`. `kind`: what it is, such as `password`. */
export function doubtAbout(kind: string): string {
  return `a rotation of this ${kind} was begun and its outcome is not known yet; if this ${kind} does not log in, read it again in a moment`;
}

/** What a caller of `Rotation.rotate` reads after a failure that is tried again, which is any but a 4xx. */
export function retriedAfter(reason: string): string {
  return `unable to finish rotating credentials; retries will continue in the background but it is also safe to retry manually: ${reason}`;
}
