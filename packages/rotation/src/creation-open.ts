import { BadRequest, TooManyRequests } from '@strongroom/engine-sdk';
import type { RotationState } from './rotation-state.ts';

/**
 * The refusal of a creation by `Rotation.adopt` where a record is stored already: another request was faster (429), or an earlier creation is open
 * whose new credential may be in force (400). `called` names the record, such as `role app`; `now` in milliseconds.
 */
export function creationOpen(
  called: string,
  { current, pending }: Pick<RotationState<unknown>, 'current' | 'pending'>,
  now: number,
): Error {
  if (current !== undefined || pending === undefined || pending.until > now) {
    return new TooManyRequests(`the static ${called} is being written by another request`, { headers: { 'Retry-After': '1' } });
  }
  return new BadRequest(
    `skip_import_rotation: the ${called} is there already, and its password may have been changed; ` +
      'that is retried in the background, or write it without skip_import_rotation',
  );
}
