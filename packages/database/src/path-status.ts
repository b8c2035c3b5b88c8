import { f, path, ShownCircuit, shownCircuit, ShownFailure, shownFailure, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import type { Connections } from './connections.ts';
import { recordsIn } from './records.ts';
import type { RootRotation } from './root-rotation.ts';

const Count = Type.Integer();

const Status = Type.Object({
  plugin_name: Type.String(),
  plugin_version: Type.String({ description: 'Of the plugin in use; empty where it names none, or cannot be used.' }),
  state: Type.String({
    description: 'ready; left-alone: the circuit is open. out-of-use: the plugin cannot be used, for the reason in quarantine.',
  }),
  open: Type.Boolean({ description: 'Whether this process holds a session.' }),
  pool: Type.Union([Type.Object({ open: Count, idle: Count, waiting: Count, limit: Count }), Type.Null()], {
    description: 'Of this process. Null without a session, and where the plugin pools nothing.',
  }),
  queue: Type.Object({ under_way: Count, waiting: Count, limit: Count }, { description: 'Calls of this process.' }),
  call_deadline: Type.Number({ description: 'Seconds.' }),
  circuit: Type.Object({ ...ShownCircuit.properties, threshold: Type.Integer({ description: '0: it never opens.' }) }),
  quarantine: Type.Union([Type.String(), Type.Null()]),
  last_error: ShownFailure,
  root_rotation: RotationStatus,
});

export function statusPaths(host: EngineHost, connections: Connections, roots: RootRotation): readonly AnyPath[] {
  const status = path('config/{name}/status', {
    synopsis: 'How a connection is doing.',
    description: 'As this process sees it; others have sessions of their own. Nothing is connected to.',
    fields: { name: f.name('Name of the connection.') },
  }).read({
    summary: 'Shows pool, queue, circuit and troubles of a connection.',
    response: Status,
    handle: async (req) => {
      const { name } = req.data;
      const record = await recordsIn(host.storage).connections.get(name);
      if (!record) return undefined;
      const connection = { name, record };
      const bulkhead = connections.bulkhead(connection);
      const circuit = bulkhead.circuit();
      const pool = await connections.pool(connection);
      const quarantine = connections.quarantine(connection) ?? null;
      return {
        data: {
          plugin_name: record.plugin_name,
          plugin_version: connections.plugin(record)?.version ?? '',
          state: quarantine === null ? (circuit.state === 'open' ? 'left-alone' : 'ready') : 'out-of-use',
          open: connections.isOpen(connection),
          pool: pool ? { open: pool.open, idle: pool.idle, waiting: pool.waiting, limit: pool.limit } : null,
          queue: bulkhead.queue(),
          call_deadline: bulkhead.limits.call_deadline,
          circuit: { ...shownCircuit(circuit), threshold: bulkhead.limits.circuit_failures },
          quarantine,
          last_error: shownFailure(bulkhead.lastError),
          root_rotation: await roots.rotation.status(name, record),
        },
      };
    },
  });
  return [status];
}
