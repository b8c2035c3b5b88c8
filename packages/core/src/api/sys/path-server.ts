import { type AnyPath, type EngineResponse, f, NoContent, NotFound, path, rawAnswer, Timestamp } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Nodes } from '../../services/nodes/nodes.ts';

export interface ServerPathDeps {
  readonly now: () => Date;
  readonly nodes: Nodes;
  /** The configuration without its secrets, as the server was started. */
  readonly sanitizedConfig: () => Record<string, unknown>;
  /** Prometheus text or JSON; undefined where metrics are off. */
  readonly metrics: ((format: 'prometheus' | 'json') => Promise<string>) | undefined;
}

const Node = Type.Object({
  hostname: Type.String(),
  api_address: Type.String(),
  cluster_address: Type.String(),
  active_node: Type.Boolean(),
  last_echo: Type.Union([Timestamp, Type.Null()]),
  version: Type.String(),
  upgrade_version: Type.String(),
});

/** What the node says about itself. */
export function serverPaths(deps: ServerPathDeps): AnyPath[] {
  return [
    path('ha-status', { synopsis: 'The nodes.', description: 'Every node is active.', fields: {} }).read({
      summary: 'Lists nodes.',
      response: Type.Object({ nodes: Type.Array(Node) }),
      handle: async () => ({
        data: {
          nodes: (await deps.nodes.list())
            .filter(({ state }) => state === 'active')
            .sort((a, b) => Number(b.self) - Number(a.self))
            .map(({ hostname, address, version, self, seen }) => ({
              hostname,
              api_address: address,
              cluster_address: address,
              active_node: true,
              last_echo: self ? null : new Date(seen).toISOString(),
              version,
              upgrade_version: version,
            })),
        },
      }),
    }),
    path('replication/status', {
      synopsis: 'Accepted: nothing is replicated, so this is 404 for everybody.',
      description: 'Clients ask it without a token.',
      access: 'unauthenticated',
      fields: {},
    }).read({
      summary: 'Answers that there is no replication.',
      response: NoContent,
      handle: async () => {
        throw new NotFound('unsupported path');
      },
    }),
    path('config/state/sanitized', {
      synopsis: 'The configuration, without secrets.',
      description: 'As the server was started.',
      access: 'sudo',
      fields: {},
    }).read({
      summary: 'Shows the configuration.',
      response: Type.Record(Type.String(), Type.Unknown()),
      handle: async () => ({ data: deps.sanitizedConfig() }),
    }),
    path('metrics', {
      synopsis: 'Metrics.',
      description: 'In the text format of Prometheus, or as JSON.',
      fields: { format: f.string('`prometheus` or `json`.', { default: 'prometheus' }) },
    }).read({
      summary: 'Shows metrics.',
      response: rawAnswer(['text/plain; version=0.0.4', 'application/json']),
      answers: { 400: rawAnswer('text/plain') },
      handle: async ({ data }): Promise<EngineResponse<never>> => {
        if (!deps.metrics) return { status: 400, raw: { contentType: 'text/plain', body: 'prometheus is not enabled' } };
        if (data.format === 'json') return { raw: { contentType: 'application/json', body: await deps.metrics('json') } };
        if (data.format !== 'prometheus') {
          return { status: 400, raw: { contentType: 'text/plain', body: `metric response format ${JSON.stringify(data.format)} unknown` } };
        }
        return { raw: { contentType: 'text/plain; version=0.0.4', body: await deps.metrics('prometheus') } };
      },
    }),
  ];
}
