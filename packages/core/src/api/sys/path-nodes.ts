import { path, type AnyPath } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { Node, Nodes } from '../../services/nodes/nodes.ts';

const time = (description: string) => Type.String({ description });
const NodeData = Type.Object({
  id: Type.String({ description: 'Of the server, as long as it runs.' }),
  self: Type.Boolean({ description: 'Whether this server answers the request.' }),
  hostname: Type.String(),
  api_address: Type.String({ description: 'Where clients reach it; empty where its configuration has no `api_addr`.' }),
  version: Type.String(),
  state: Type.Union([Type.Literal('active'), Type.Literal('sealed'), Type.Literal('lost')], {
    description: '`lost`: it does not write to the store any more, and was not stopped in an orderly way.',
  }),
  started: time('When its process began.'),
  unsealed_since: time('When it was last unsealed.'),
  last_seen: time('When it last wrote to the store: every ten seconds while it is unsealed.'),
  workers: Type.Integer({ description: 'Its processes that are in that state: 1, unless its configuration has `workers`.' }),
  requests: Type.Integer({ description: 'Requests under way at `last_seen`.' }),
  due_work: Type.Integer({ description: 'Entries of the schedule under way at `last_seen`.' }),
});

/** `sys/nodes`: the servers that share the store. */
export function nodePaths({ nodes }: { readonly nodes: Nodes }): AnyPath[] {
  return [
    path('nodes', {
      synopsis: 'The servers that share this store.',
      description: 'Every server that is unsealed is active. One that was stopped is not listed; one that was sealed or lost is for a day.',
      fields: {},
    }).read({
      summary: 'Lists the servers.',
      response: Type.Object({ nodes: Type.Array(NodeData) }),
      handle: async () => ({ data: { nodes: (await nodes.list()).map(nodeData) } }),
    }),
  ];
}

function nodeData(node: Node): Static<typeof NodeData> {
  const { id, self, hostname, address, version, state, workers, requests, work } = node;
  const at = (millis: number): string => new Date(millis).toISOString();
  return {
    ...{ id, self, hostname, api_address: address, version, state },
    ...{ started: at(node.started), unsealed_since: at(node.unsealed), last_seen: at(node.seen) },
    ...{ workers, requests, due_work: work },
  };
}
