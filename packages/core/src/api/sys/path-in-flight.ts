import { type AnyPath, path, rawAnswer, Timestamp } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { CallsUnderWay } from '../../kernel/call/calls-under-way.ts';
import type { Siblings } from '../../kernel/siblings.ts';

const Call = Type.Object({
  start_time: Timestamp,
  client_remote_address: Type.String(),
  request_path: Type.String(),
  request_method: Type.String(),
  client_id: Type.String(),
});

/** `sys/in-flight-req`: of all processes of this server. */
export function inFlightPaths({ underWay, siblings }: { readonly underWay: CallsUnderWay; readonly siblings: Siblings }): AnyPath[] {
  const own = (): [id: string, call: Static<typeof Call>][] =>
    [...underWay].map((call) => [
      call.id,
      {
        start_time: new Date(call.began).toISOString(),
        client_remote_address: call.remoteAddress,
        request_path: `/v1/${call.path}`,
        request_method: call.operation,
        client_id: call.identity?.entityId ?? '',
      },
    ]);
  siblings.answer('calls', own);
  return [
    path('in-flight-req', {
      synopsis: 'The calls that are being answered.',
      description: 'By request id; this call is one of them.',
      fields: {},
    }).read({
      summary: 'Shows the calls under way.',
      response: rawAnswer('application/json', Type.Record(Type.String(), Call)),
      handle: async () => {
        const calls = [...own(), ...(await siblings.ask<ReturnType<typeof own>>('calls')).flat()];
        return { raw: { contentType: 'application/json', body: `${JSON.stringify(Object.fromEntries(calls))}\n` } };
      },
    }),
  ];
}
