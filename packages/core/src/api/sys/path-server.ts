import { f, path, type AnyPath, type EngineResponse } from '@strongroom/engine-sdk';
import type { Cluster } from '../../services/seal/cluster.ts';
import { VERSION } from '../../kernel/version.ts';

export interface ServerPathDeps {
  readonly cluster: Cluster;
  readonly now: () => Date;
  readonly hostname: string;
  /** The configuration without its secrets, as the server was started. */
  readonly sanitizedConfig: () => Record<string, unknown>;
  /** Prometheus text; undefined where metrics are off. */
  readonly metrics: (() => Promise<string>) | undefined;
}

/** What the node tells of itself. */
export function serverPaths(deps: ServerPathDeps): AnyPath[] {
  return [
    path('ha-status', { synopsis: 'The nodes.', description: 'Every node is active.', fields: {} }).read({
      summary: 'Lists nodes.',
      handle: async () => ({
        data: {
          nodes: [
            {
              hostname: deps.hostname,
              api_address: deps.cluster.apiAddress,
              cluster_address: deps.cluster.apiAddress,
              active_node: true,
              last_echo: null,
              version: VERSION,
            },
          ],
        },
      }),
    }),
    path('config/state/sanitized', {
      synopsis: 'The configuration, without secrets.',
      description: 'As the server was started.',
      access: 'sudo',
      fields: {},
    }).read({
      summary: 'Shows the configuration.',
      handle: async () => ({ data: deps.sanitizedConfig() }),
    }),
    path('metrics', {
      synopsis: 'Metrics.',
      description: 'In the text format of Prometheus.',
      fields: { format: f.string('prometheus', { default: 'prometheus' }) },
    }).read({
      summary: 'Shows metrics.',
      handle: async ({ data }): Promise<EngineResponse<never>> => {
        if (!deps.metrics) return { status: 400, raw: { contentType: 'text/plain', body: 'prometheus is not enabled' } };
        if (data.format !== 'prometheus') {
          return { status: 400, raw: { contentType: 'text/plain', body: `metric response format ${JSON.stringify(data.format)} unknown` } };
        }
        return { raw: { contentType: 'text/plain; version=0.0.4', body: await deps.metrics() } };
      },
    }),
  ];
}
