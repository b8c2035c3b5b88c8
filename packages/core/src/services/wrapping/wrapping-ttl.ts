import { BadRequest } from '@strongroom/engine-sdk';

/**
 * How long a wrapping token lives that is asked for with so many seconds: whole seconds, since fractions round up, and at most `most`. 0 is no
 * wrapping. @throws BadRequest for what is no span of time
 */
export function wrappingTtl(asked: number | undefined, most: number): number {
  if (asked === undefined) return 0;
  if (asked < 0) throw new BadRequest('requested wrap ttl cannot be negative');
  if (typeof asked !== 'number' || !Number.isFinite(asked)) throw new BadRequest('requested wrap ttl must be a number of seconds');
  return Math.min(Math.ceil(asked), most);
}
