import { path, ShownCircuit, shownCircuit, ShownFailure, shownFailure, type AnyPath } from '@strongroom/engine-sdk';
import { RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import type { BrokerService } from './broker-service.ts';
import { CONNECTION } from './records.ts';
import type { RootRotation } from './root-rotation.ts';

const Count = Type.Integer();

export function statusPath(service: BrokerService, root: RootRotation): AnyPath {
  return path('config/status', {
    synopsis: 'How the connection to RabbitMQ is doing.',
    description: 'As this process sees it; others have connections of their own. RabbitMQ is not asked.',
    fields: {},
  }).read({
    summary: 'Shows the pool, the circuit breaker and the last failure.',
    response: Type.Object({
      state: Type.Union([Type.Literal('ready'), Type.Literal('left-alone')], { description: 'left-alone: the circuit breaker is open.' }),
      pool: Type.Union([Type.Object({ open: Count, idle: Count, waiting: Count, limit: Count }), Type.Null()], {
        description: 'Of this process. Null before its first call.',
      }),
      circuit: ShownCircuit,
      last_error: ShownFailure,
      root_rotation: RotationStatus,
    }),
    handle: async () => {
      const connection = await service.read();
      if (!connection) return undefined;
      const { circuit } = service;
      const status = circuit.status();
      const [pool] = service.pools();
      return {
        data: {
          state: status.state === 'open' ? ('left-alone' as const) : ('ready' as const),
          pool: pool ? { open: pool.open, idle: pool.idle, waiting: pool.waiting, limit: pool.limit } : null,
          circuit: shownCircuit(status),
          last_error: shownFailure(circuit.lastFailure),
          root_rotation: await root.rotation.status(CONNECTION, connection),
        },
      };
    },
  });
}
