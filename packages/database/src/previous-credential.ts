import { Type, type Static } from 'typebox';
import type { StaticRoleRecord } from './records.ts';
import { nextUser } from './static-pair.ts';

/** What logs in beside the credential that is answered, and until when. */
export const PreviousCredential = Type.Object(
  { username: Type.String(), valid_until: Type.Union([Type.String(), Type.Null()]) },
  {
    description:
      'The credential that was answered before still logs in until valid_until. Of a pair: its other user, until the next rotation, which is null where none is ' +
      'planned. With a grace_period: the same user. Absent while a rotation is due or under way, which ends it.',
  },
);
export type PreviousCredential = Static<typeof PreviousCredential>;

/** Undefined where there is none, or where a rotation that is due or under way may have changed it. `now` in milliseconds. */
export function previousCredential(role: StaticRoleRecord, now: number): PreviousCredential | undefined {
  const { username, usernames, last_rotation, next_rotation, pending, shelved, demanded, retiring } = role;
  if (last_rotation === 0 || pending || shelved || demanded !== undefined) return undefined;
  if (!usernames) {
    const at = retiring?.[0]?.at ?? 0;
    return at <= now ? undefined : { username, valid_until: new Date(at).toISOString() };
  }
  if (next_rotation === 0) return { username: nextUser(role), valid_until: null };
  return next_rotation <= now ? undefined : { username: nextUser(role), valid_until: new Date(next_rotation).toISOString() };
}

/** The warning of a rotation that ends a replaced credential before its time; undefined where there is none. `now` in milliseconds. */
export function endedEarly({ grace_period: grace, retiring }: StaticRoleRecord, now: number): string | undefined {
  const at = retiring?.[0]?.at ?? 0;
  if (!grace || at <= now) return undefined;
  return `the password before the one that this rotation has replaced was to log in until ${new Date(at).toISOString()}, and ended now: the database takes two at a time`;
}
