import { path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { inTrouble, RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import type { Connections, NamedConnection } from './connections.ts';
import { recordsIn } from './records.ts';
import type { RootRotation } from './root-rotation.ts';
import type { StaticUsers } from './static-users.ts';

export function failingPaths(host: EngineHost, connections: Connections, users: StaticUsers, roots: RootRotation): readonly AnyPath[] {
  const records = recordsIn(host.storage);
  const failing = path('failing', {
    synopsis: 'What does not work at the moment.',
    description:
      'Static roles whose rotation fails or is of unknown outcome, root rotations likewise, and connections that are out of use or left alone.',
    fields: {},
  }).read({
    summary: 'Shows rotations and connections that fail.',
    response: Type.Object({
      static_roles: Type.Record(Type.String(), RotationStatus),
      root_rotations: Type.Record(Type.String(), RotationStatus),
      connections: Type.Record(Type.String(), Type.Object({ reason: Type.String() })),
    }),
    handle: async () => {
      const broken: Record<string, { reason: string }> = {};
      const known = await records.connections.entries();
      for (const [name, record] of known) {
        const reason = connections.quarantine({ name, record }) ?? leftAlone(connections, { name, record });
        if (reason !== undefined) broken[name] = { reason };
      }
      return {
        data: {
          static_roles: await inTrouble(users.rotation, await records.staticRoles.entries()),
          root_rotations: await inTrouble(roots.rotation, known),
          connections: broken,
        },
      };
    },
  });
  return [failing];
}

function leftAlone(connections: Connections, connection: NamedConnection): string | undefined {
  const bulkhead = connections.bulkhead(connection);
  const { state, failures, nextTry } = bulkhead.circuit();
  if (state === 'closed') return undefined;
  return `left alone until ${nextTry!.toISOString()} after ${failures} failures in a row: ${bulkhead.lastError?.message ?? 'see its roles'}`;
}
