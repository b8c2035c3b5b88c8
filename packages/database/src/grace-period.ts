import { BadRequest } from '@strongroom/engine-sdk';
import type { Connections } from './connections.ts';
import type { StaticRoleRecord } from './records.ts';

/** What a role needs whose replaced password is to stay good for a while, as far as the role shows it. @throws BadRequest */
export function checkGrace(role: StaticRoleRecord): void {
  const { grace_period: grace = 0, usernames, credential_type: type, rotation_statements: statements, rotation_period: period } = role;
  if (grace === 0) return;
  if (usernames) throw new BadRequest('grace_period: the users of a pair take turns, and need none; leave it out, or send username alone');
  if (type !== 'password') throw new BadRequest(`grace_period: it is for passwords, and the credential_type is ${type}; leave it out`);
  if (statements.length > 0) {
    throw new BadRequest(
      'grace_period: the plugin makes the statements that keep a password; leave out rotation_statements, or grace_period',
    );
  }
  if (period > 0 && grace > period) {
    throw new BadRequest(
      `grace_period (${grace} s) is longer than rotation_period (${period} s): a rotation ends what the one before has replaced; send a shorter one`,
    );
  }
}

/** @throws BadRequest where a user of the database has one password alone, DatabaseFailed where it does not answer */
export async function requireTwoPasswords(connections: Connections, role: StaticRoleRecord, signal: AbortSignal): Promise<void> {
  if (!role.grace_period) return;
  const connection = await connections.require(role.db_name);
  if (await connections.use(connection, async ({ session }) => session.hasTwoPasswords(signal))) return;
  throw new BadRequest(
    `grace_period: a user of the database of the connection "${role.db_name}" has one password at a time; make the role with usernames, a pair of users that take turns`,
  );
}
