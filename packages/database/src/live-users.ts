import type { Collection } from '@strongroom/engine-sdk';
import type { StaticRoleRecord, UserRecord } from './records.ts';

const PAGE = 1_000;

/** How many users that were made through a connection have a lease; of one role, where it is given. */
export async function countLiveUsers(users: Collection<UserRecord>, connectionId: string, role?: string): Promise<number> {
  const prefix = `${connectionId}/`;
  let live = 0;
  let after: string | undefined;
  for (;;) {
    const page = await users.entries({ prefix, limit: PAGE, ...(after === undefined ? {} : { after }) });
    for (const [, user] of page) if (!user.undoing && !user.dropped && (role === undefined || user.role === role)) live += 1;
    if (page.length < PAGE) return live;
    after = page.at(-1)![0];
  }
}

/** For the answer to a deletion; undefined where nobody is concerned. `fate`: what can become of them. */
export function liveUsersWarning(live: number, of: string, fate: string): string | undefined {
  if (live === 0) return undefined;
  const [credentials, are, they] = live === 1 ? ['credential', 'is', 'It'] : ['credentials', 'are', 'They'];
  return `${live} ${credentials} ${of} ${are} still live. ${they} can be ${fate}.`;
}

/** For the answer to the deletion of a connection that static roles name; undefined where none does. */
export async function staticRolesWarning(roles: Collection<StaticRoleRecord>, connection: string): Promise<string | undefined> {
  let using = 0;
  let after: string | undefined;
  for (;;) {
    const page = await roles.entries({ limit: PAGE, ...(after === undefined ? {} : { after }) });
    using += page.filter(([, role]) => role.db_name === connection).length;
    if (page.length < PAGE) break;
    after = page.at(-1)![0];
  }
  if (using === 0) return undefined;
  const [uses, are] = using === 1 ? ['static role uses', 'It is'] : ['static roles use', 'They are'];
  return `${using} ${uses} this connection. ${are} not rotated until there is a connection named "${connection}" again.`;
}
