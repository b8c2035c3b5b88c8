import { path, type AnyPath } from '@strongroom/engine-sdk';
import type { CallsUnderWay } from '../../kernel/call/calls-under-way.ts';

/** `sys/in-flight-req`. */
export function inFlightPaths({ underWay }: { readonly underWay: CallsUnderWay }): AnyPath[] {
  return [
    path('in-flight-req', {
      synopsis: 'The calls that are being answered.',
      description: 'By request id; this call is one of them.',
      fields: {},
    }).read({
      summary: 'Shows the calls under way.',
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
