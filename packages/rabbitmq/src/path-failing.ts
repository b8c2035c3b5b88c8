import { reasonToWait, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { failingPath, inTrouble, RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import type { BrokerService } from './broker-service.ts';
import { CONNECTION, recordsIn } from './records.ts';
import type { RootRotation } from './root-rotation.ts';
import type { StaticUsers } from './static-users.ts';

export function brokerFailingPath(host: EngineHost, service: BrokerService, root: RootRotation, users: StaticUsers): AnyPath {
  const records = recordsIn(host.storage);
  return failingPath({
    description:
      'Static roles and the password of the managing user whose rotation fails or has an unknown outcome, and the connection while its circuit breaker is open.',
    summary: 'Shows the rotations that are in trouble, and a RabbitMQ that cannot be reached.',
    rotations: { static_roles: async () => inTrouble(users.rotation, await records.staticRoles.entries()) },
    also: {
      response: { root: Type.Optional(RotationStatus), connection: Type.Optional(Type.Object({ reason: Type.String() })) },
      read: async () => {
        const connection = await records.connection.get(CONNECTION);
        if (!connection) return {};
        const reason = reasonToWait(service.circuit.status(), service.circuit.lastFailure);
        return {
          ...(await inTrouble(root.rotation, [[CONNECTION, connection]], () => 'root')),
          ...(reason === undefined ? {} : { connection: { reason } }),
        };
      },
    },
  });
}
