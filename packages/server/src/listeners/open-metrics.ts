import { randomUUID } from 'node:crypto';
import { emptyResponse } from '@strongroom/core';
import type { CoreHandler } from '@strongroom/http';
import type { ServerMetrics } from '../metrics/server-metrics.ts';

/** The same core, which shows its metrics without a token: `unauthenticated_metrics_access` of a listener. */
export function withOpenMetrics(core: CoreHandler, metrics: ServerMetrics): CoreHandler {
  return {
    ...(core.cors ? { cors: core.cors } : {}),
    ...(core.recognizes ? { recognizes: (token, address) => core.recognizes!(token, address) } : {}),
    async handle(request) {
      const { path, operation, data } = request;
      const asked = path === 'sys/metrics' && operation === 'read' && (data?.['format'] ?? 'prometheus') === 'prometheus';
      if (!asked) return core.handle(request);
      return {
        ...emptyResponse(randomUUID(), 200),
        raw: { contentType: 'text/plain; version=0.0.4', body: await metrics.render() },
      };
    },
  };
}
