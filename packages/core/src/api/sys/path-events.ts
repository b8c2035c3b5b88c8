import { BadRequest, f, path, streamedAnswer, type AnyPath } from '@strongroom/engine-sdk';
import type { EventStreams } from '../../services/following/event-streams.ts';
import { internalOf } from '../../services/caller/internal-request.ts';

const PATH = 'sys/events';

/** `sys/events`: what happens, as it happens. */
export function eventPaths({ streams }: { readonly streams: EventStreams }): AnyPath[] {
  return [
    path('events', {
      synopsis: 'What happens on all servers of the store, as it happens.',
      description:
        'A `text/event-stream` that goes on until the token ends. Each event names a path, and is sent only while the policies of the token allow to read that path. Events of leases need `list` on the folder of the lease below `sys/leases/lookup`, or the token that the lease was issued to. Values are never sent. `Last-Event-ID` continues where another stream ended; a `reset` event says that events may be missing.',
      fields: {
        kinds: f.commaStrings('Only these: `rotation.done`, or `rotation` for all that begin with it.'),
        mount: f.string('Only events of the mount at this path.', { default: '' }),
        prefix: f.string('Only events whose path begins with this.', { default: '' }),
        cursor: f.string('As the header `Last-Event-ID`, for clients that cannot send it.'),
      },
    }).read({
      summary: 'Follows events.',
      response: streamedAnswer('text/event-stream'),
      handle: async (req) => {
        const { data, headers } = req;
        const { kinds = [], mount, prefix } = data;
        const unknown = kinds.find((kind) => !/^[a-z]+(\.[a-z]+)?$/.test(kind));
        if (unknown !== undefined) throw new BadRequest(`kinds: ${JSON.stringify(unknown)} is no kind of event, such as rotation.done`);
        const sent = headers['last-event-id'];
        const cursor = sent === undefined ? data.cursor : String(sent);
        const { request } = internalOf(req);
        const at = mount === '' || mount.endsWith('/') ? mount : `${mount}/`;
        const stream = streams.open({
          token: request.token ?? '',
          remoteAddress: req.caller.remoteAddress,
          path: PATH,
          filter: { kinds, mount: at, prefix },
          ...(cursor === undefined ? {} : { cursor }),
        });
        return { stream };
      },
    }),
  ];
}
