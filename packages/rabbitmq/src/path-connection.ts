import { f, NoContent, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { rootPlanParameters, RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import { connectionFields, connectionWarnings, ShownConnection, shownConnection } from './connection.ts';
import type { BrokerService } from './broker-service.ts';
import type { DynamicUsers } from './dynamic-users.ts';
import { CONNECTION } from './records.ts';
import type { RootRotation } from './root-rotation.ts';
import { sharersOf, sharingWarnings } from './user-neighbours.ts';

const SHARED = 'Mounts that log in as the same user: a rotation in one of them locks the others out. Absent where there is none.';

export function connectionPath(host: EngineHost, service: BrokerService, users: DynamicUsers, root: RootRotation): AnyPath {
  return path('config/connection', {
    synopsis: 'How RabbitMQ is reached, and how users and passwords are made.',
    description:
      'The first write names connection_uri, username and password; later ones change only what they send. password and tls_client_key are never shown. ' +
      'The password policy must exist when a password is first made. rotation_period or rotation_schedule (UTC) rotates password by plan.',
    fields: {
      ...connectionFields,
      ...rootPlanParameters,
      verify_connection: f.bool('Log in before anything is stored, and check that the user may manage others.', { default: true }),
    },
  })
    .read({
      summary: 'Reads the connection, without its secrets.',
      response: Type.Object({
        ...ShownConnection.properties,
        username_shared_with: Type.Optional(Type.Array(Type.String(), { description: SHARED })),
        root_rotation: RotationStatus,
      }),
      handle: async () => {
        const connection = await service.read();
        if (!connection) return undefined;
        const sharers = await sharersOf(host.mount.path, connection);
        return {
          data: {
            ...shownConnection(connection),
            ...(sharers.length > 0 ? { username_shared_with: sharers } : {}),
            root_rotation: await root.rotation.status(CONNECTION, connection),
          },
        };
      },
    })
    .upsert({
      summary: 'Configures the connection.',
      response: NoContent,
      exists: async () => (await service.read()) !== undefined,
      handle: async (req) => {
        const { verify_connection: verify, ...sent } = req.data;
        if (sent.username_template !== undefined) users.names(sent.username_template);
        const written = await service.write({ sent, supplied: req.supplied, sudo: req.caller.sudo, verify, signal: req.signal });
        const warnings = [
          ...(req.supplied.has('connection_uri') ? connectionWarnings(written) : []),
          ...sharingWarnings(await sharersOf(host.mount.path, written)),
        ];
        return warnings.length === 0 ? undefined : { warnings };
      },
    });
}
