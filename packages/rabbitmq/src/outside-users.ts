import type { EngineHost, OutsideThing } from '@strongroom/engine-sdk';
import type { DynamicUsers } from './dynamic-users.ts';
import { CONNECTION, recordsIn } from './records.ts';
import type { RootRotation } from './root-rotation.ts';
import type { StaticUsers } from './static-users.ts';

/**
 * The users of RabbitMQ whose password this mount has changed, so that it is stored here alone, and those that no lease deletes any more. Without those
 * that another manager has taken over.
 */
export async function outsideUsers(
  { storage }: EngineHost,
  { root, statics, dynamics }: { readonly root: RootRotation; readonly statics: StaticUsers; readonly dynamics: DynamicUsers },
): Promise<readonly OutsideThing[]> {
  const records = recordsIn(storage);
  const things: OutsideThing[] = [];
  const connection = await records.connection.get(CONNECTION);
  if (connection?.root?.previous !== undefined && (await root.rotation.managedBy(storage, CONNECTION, connection)) === undefined) {
    const detail = 'the managing user, whose password was rotated and is stored here alone';
    things.push({ kind: 'RabbitMQ user', name: connection.username, detail });
  }
  for (const [name, role] of await records.staticRoles.entries()) {
    if ((!role.current && !role.pending) || (await statics.rotation.managedBy(storage, name, role)) !== undefined) continue;
    const detail = `the static role ${JSON.stringify(name)} has changed its password, which is stored here alone`;
    things.push({ kind: 'RabbitMQ user', name: role.username, detail });
  }
  return [...things, ...(await dynamics.outside())];
}
