import { BadRequest } from '@strongroom/engine-sdk';
import type { StaticRoleRecord } from './records.ts';

/** The users that a static role may hand out: one, or the two of a pair. */
export function usersOf({ username, usernames }: Pick<StaticRoleRecord, 'username' | 'usernames'>): readonly string[] {
  return usernames ?? [username];
}

/** The user that `static-creds` answers with: of a pair whose credential is not known yet, the first. */
export function handedOut({ username, current }: StaticRoleRecord): string {
  return current?.username ?? username;
}

/**
 * The user whose credential the next rotation changes: of a pair, the one that is not handed out. So the first rotation changes the second user, and
 * whoever uses the first one goes on.
 */
export function nextUser(role: StaticRoleRecord): string {
  const out = handedOut(role);
  return role.usernames?.find((username) => username !== out) ?? out;
}

/** What a write sent of the users of a role. */
export interface SentUsers {
  readonly username: string | undefined;
  readonly usernames: readonly string[] | undefined;
}

/** The users of a role after a write; they cannot be changed. @throws BadRequest */
export function usersAfter(
  before: StaticRoleRecord | undefined,
  { username = '', usernames }: SentUsers,
): Pick<StaticRoleRecord, 'username' | 'usernames'> {
  if (username !== '' && usernames !== undefined) {
    throw new BadRequest('username and usernames were both sent: send username for one user, or usernames for a pair');
  }
  if (before) return unchanged(before, username, usernames);
  if (usernames === undefined) {
    if (username === '') throw new BadRequest('username is a required field to create a static account');
    return { username };
  }
  const [first, second] = usernames;
  if (!first || !second || usernames.length !== 2 || first === second) {
    throw new BadRequest('usernames: exactly two different users are needed, such as ["app_a", "app_b"]');
  }
  return { username: first, usernames: [first, second] };
}

function unchanged(
  before: StaticRoleRecord,
  username: string,
  usernames: readonly string[] | undefined,
): Pick<StaticRoleRecord, 'username' | 'usernames'> {
  if (before.usernames) {
    const isSame = username === '' && (usernames ?? before.usernames).join('\n') === before.usernames.join('\n');
    if (!isSame) throw new BadRequest('usernames: the users of a static role cannot be changed; make another role for other users');
    return { username: before.username, usernames: before.usernames };
  }
  if (usernames !== undefined) {
    throw new BadRequest('usernames: a static role of one user cannot become a pair; delete the role, and make one with usernames');
  }
  if (username !== before.username) throw new BadRequest('cannot update static account username');
  return { username };
}
