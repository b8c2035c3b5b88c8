import {
  path,
  reasonToWait,
  ShownCircuit,
  shownCircuit,
  ShownFailure,
  shownFailure,
  type AnyPath,
  type EngineHost,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Cluster } from './cluster.ts';
import { tokenTrouble } from './failing.ts';
import { CONFIG, recordsIn } from './records.ts';

export function statusPath(host: EngineHost, cluster: Cluster): AnyPath {
  return path('config/status', {
    synopsis: 'How the connection to the API server is doing.',
    description: 'As this process sees it; others have connections of their own. The API server is not asked.',
    fields: {},
  }).read({
    summary: 'Shows the circuit breaker and the last failure.',
    response: Type.Object({
      state: Type.Union([Type.Literal('ready'), Type.Literal('left-alone'), Type.Literal('out-of-use')], {
        description: 'left-alone: the circuit breaker is open. out-of-use: there is no valid token.',
      }),
      reason: Type.Union([Type.String(), Type.Null()], { description: 'Why it is not ready.' }),
      circuit: ShownCircuit,
      last_error: ShownFailure,
    }),
    handle: async (req) => {
      const config = await recordsIn(req.storage).config.get(CONFIG);
      if (!config) return undefined;
      const { circuit } = cluster;
      const status = circuit.status();
      const trouble = await tokenTrouble(config, host, cluster);
      const wait = reasonToWait(status, circuit.lastFailure);
      return {
        data: {
          state: trouble === undefined ? (wait === undefined ? ('ready' as const) : ('left-alone' as const)) : ('out-of-use' as const),
          reason: trouble ?? wait ?? null,
          circuit: shownCircuit(status),
          last_error: shownFailure(circuit.lastFailure),
        },
      };
    },
  });
}
