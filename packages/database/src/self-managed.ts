import { BadRequest, InvalidRequest } from '@strongroom/engine-sdk';
import type { AnyDatabasePlugin } from './plugin-catalog.ts';
import type { ConnectionRecord, StaticRoleRecord } from './records.ts';

/** In the place of the user that a self-managed connection does not have. No server is ever shown it. */
const STAND_IN = { username: 'user', password: 'stand-in-for-the-password-of-a-user' };

/** The settings by which a plugin checks a connection and says where it leads: a plugin may demand a user, also where a connection has none of its own. */
export function detailsWithUser({ self_managed: isSelfManaged, details }: ConnectionRecord): ConnectionRecord['details'] {
  return isSelfManaged ? { ...STAND_IN, ...details } : details;
}

/** Whether the connection's settings name no user. */
export function isUserless({ self_managed: isSelfManaged, details }: ConnectionRecord): boolean {
  return isSelfManaged === true && !details['username'];
}

/** What needs a user that manages others. */
export function ownUserMissing(connection: string): InvalidRequest {
  return new InvalidRequest(
    `the connection "${connection}" is self_managed: it has no user of its own, and serves static roles whose users change their own passwords`,
  );
}

/** @throws BadRequest where users of the database do not change their own passwords */
export function requireSelfManageable(plugin: AnyDatabasePlugin, record: ConnectionRecord): void {
  if (!record.self_managed || plugin.supports.selfManaged === true) return;
  throw new BadRequest(
    `self_managed: users of ${plugin.name} do not change their own passwords; leave it out, and give the connection a username and password`,
  );
}

/** What was sent of the password that the user has now. */
export interface SentPasswords {
  readonly password: string | undefined;
  readonly self_managed_password: string | undefined;
}

/** What a role and its connection need of each other. @throws BadRequest */
export function checkSelfManaged(
  role: StaticRoleRecord,
  connection: ConnectionRecord,
  { password: imported, self_managed_password: password }: SentPasswords,
): void {
  if (password === undefined) {
    if (!connection.self_managed || role.self_managed) return;
    throw new BadRequest(
      `self_managed_password: the connection "${role.db_name}" is self_managed, so that the user changes its own password; send the one that it has now`,
    );
  }
  if (imported !== undefined) throw new BadRequest('password: self_managed_password says it already; leave password out');
  if (password === '') throw new BadRequest('self_managed_password: it is empty; send the password that the user has now');
  if (!connection.self_managed) {
    throw new BadRequest(
      `self_managed_password: the connection "${role.db_name}" is not self_managed; send password with skip_import_rotation to keep the one that the user has`,
    );
  }
  const field = role.usernames ? 'usernames' : role.grace_period ? 'grace_period' : undefined;
  if (field !== undefined) throw new BadRequest(`${field}: a user that changes its own password has no other one; leave it out`);
  if (role.credential_type !== 'password') {
    throw new BadRequest(`self_managed_password: a role with the credential_type ${role.credential_type} has none; leave it out`);
  }
}
