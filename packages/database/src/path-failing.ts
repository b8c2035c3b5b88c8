import { reasonToWait, type AnyPath, type EngineHost, type FailingThing } from '@strongroom/engine-sdk';
import { failingPath, inTrouble } from '@strongroom/rotation';
import { Type } from 'typebox';
import type { Connections } from './connections.ts';
import { recordsIn } from './records.ts';
import type { RootRotation } from './root-rotation.ts';
import type { StaticUsers } from './static-users.ts';

export function databaseFailingPath(host: EngineHost, connections: Connections, users: StaticUsers, roots: RootRotation): AnyPath {
  const records = recordsIn(host.storage);
  return failingPath({
    description:
      'Static roles whose rotation fails or is of unknown outcome, root rotations likewise, and connections that are quarantined or whose circuit breaker is open.',
    summary: 'Shows rotations and connections that fail.',
    rotations: {
      static_roles: async () => inTrouble(users.rotation, await records.staticRoles.entries()),
      root_rotations: async () => inTrouble(roots.rotation, await records.connections.entries()),
    },
    also: {
      response: { connections: Type.Record(Type.String(), Type.Object({ reason: Type.String() })) },
      read: async () => {
        const broken: Record<string, { reason: string }> = {};
        for (const [name, record] of await records.connections.entries()) {
          const bulkhead = connections.bulkhead({ name, record });
          const reason = connections.quarantine({ name, record }) ?? reasonToWait(bulkhead.circuit(), bulkhead.lastError);
          if (reason !== undefined) broken[name] = { reason };
        }
        return { connections: broken };
      },
    },
  });
}

/** Connections that cannot be used because of their plugin. */
export async function failingConnections(host: EngineHost, connections: Connections, limit: number): Promise<FailingThing[]> {
  const entries = await recordsIn(host.storage).connections.entries({ limit });
  return entries.flatMap(([name, record]) => {
    const message = connections.quarantine({ name, record });
    return message === undefined ? [] : { noun: 'connection', name, path: `config/${name}`, message, target: name };
  });
}
