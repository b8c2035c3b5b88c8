import { path, reasonToWait, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Cluster } from './cluster.ts';
import { tokenTrouble } from './failing.ts';
import { CONFIG, recordsIn } from './records.ts';

export function clusterFailingPath(host: EngineHost, cluster: Cluster): AnyPath {
  return path('failing', {
    synopsis: 'What does not work at the moment.',
    description: 'The cluster, while there is no valid token for it or its circuit breaker is open. The API server is not asked.',
    fields: {},
  }).read({
    summary: 'Shows whether the cluster can be used.',
    response: Type.Object({ cluster: Type.Optional(Type.Object({ reason: Type.String() })) }),
    handle: async (req) => {
      const config = await recordsIn(req.storage).config.get(CONFIG);
      if (!config) return { data: {} };
      const { circuit } = cluster;
      const reason = (await tokenTrouble(config, host, cluster)) ?? reasonToWait(circuit.status(), circuit.lastFailure);
      return { data: reason === undefined ? {} : { cluster: { reason } } };
    },
  });
}
