import type { AnyPath, EngineHost } from '@strongroom/engine-sdk';
import { failingPath, inTrouble, RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import { CONNECTION, recordsIn } from './records.ts';
import type { RootRotation } from './root-rotation.ts';
import type { StaticUsers } from './static-users.ts';

export function brokerFailingPath(host: EngineHost, root: RootRotation, users: StaticUsers): AnyPath {
  const records = recordsIn(host.storage);
  return failingPath({
    description: 'Static roles and the password of the managing user whose rotation fails or has an unknown outcome.',
    summary: 'Shows the rotations that are in trouble.',
    rotations: { static_roles: async () => inTrouble(users.rotation, await records.staticRoles.entries()) },
    also: {
      response: { root: Type.Optional(RotationStatus) },
      read: async () => {
        const connection = await records.connection.get(CONNECTION);
        return inTrouble(root.rotation, connection ? [[CONNECTION, connection]] : [], () => 'root');
      },
    },
  });
}
