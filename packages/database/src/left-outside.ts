import type { OutsideThing, StorageView } from '@strongroom/engine-sdk';
import { recordsIn } from './records.ts';
import { usersOf } from './static-pair.ts';

/** What stays in databases when the mount goes, without a lease: users whose present password is stored here alone. */
export async function leftOutside(storage: StorageView): Promise<OutsideThing[]> {
  const { connections, staticRoles } = recordsIn(storage);
  const things: OutsideThing[] = [];
  for (const [name, role] of await staticRoles.entries()) {
    const { db_name, last_rotation, pending } = role;
    if (last_rotation === 0 && !pending) continue;
    for (const username of usersOf(role)) {
      things.push({
        kind: 'database user',
        name: username,
        system: `connection "${db_name}"`,
        detail: `its credential is stored in the static role "${name}" alone: read static-creds/${name} before, or set another one in the database`,
      });
    }
  }
  for (const [name, { details, root }] of await connections.entries()) {
    if (!root || (root.last_rotation === 0 && !root.pending)) continue;
    things.push({
      kind: 'database root user',
      name: String(details['username']),
      system: `connection "${name}"`,
      detail: 'its password was rotated, and nobody can read it: set another one in the database',
    });
  }
  return things;
}
