import { type AnyPath, path, rawAnswer, Timestamp } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { CallsUnderWay } from '../../kernel/call/calls-under-way.ts';

const Call = Type.Object({
  start_time: Timestamp,
  client_remote_address: Type.String(),
  request_path: Type.String(),
  request_method: Type.String(),
  client_id: Type.String(),
});

/** `sys/in-flight-req`. */
export function inFlightPaths({ underWay }: { readonly underWay: CallsUnderWay }): AnyPath[] {
  return [
    path('in-flight-req', {
      synopsis: 'The calls that are being answered.',
      description: 'By request id; this call is one of them.',
      fields: {},
    }).read({
      summary: 'Shows the calls under way.',
      response: rawAnswer('application/json', Type.Record(Type.String(), Call)),
      handle: async () => {
        const calls = [...underWay].map((call) => [
          call.id,
          {
            start_time: new Date(call.began).toISOString(),
            client_remote_address: call.remoteAddress,
            request_path: `/v1/${call.path}`,
            request_method: call.operation,
            client_id: call.identity?.entityId ?? '',
          },
        ]);
        return { raw: { contentType: 'application/json', body: `${JSON.stringify(Object.fromEntries(calls))}\n` } };
      },
    }),
  ];
}
