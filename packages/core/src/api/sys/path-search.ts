import { BadRequest, f, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { internalOf } from '../../services/caller/internal-request.ts';
import type { MountTable } from '../../services/mounts/mount-table.ts';
import type { NameSearch } from '../../services/search/name-search.ts';

export interface SearchPathDeps {
  readonly mounts: MountTable;
  readonly search: NameSearch;
}

/** Folders that a search names as left out. */
const SHOWN = 50;

const Found = Type.Object({
  hits: Type.Array(
    Type.Object({
      mount: Type.String({ description: 'The path of the mount.' }),
      type: Type.String({ description: 'The type of its engine.' }),
      list: Type.String({ description: 'The list that has the name, below the mount; empty for a mount that is one list.' }),
      name: Type.String({ description: 'The name below the list. That of a folder ends in a slash.' }),
    }),
    { description: 'In byte order.' },
  ),
  complete: Type.Boolean({ description: 'Everything was looked at, apart from `left_out`.' }),
  stopped: Type.String({ description: 'What ended an incomplete search: `limit` or `time`; empty otherwise.' }),
  after: Type.String({ description: 'Send it as `after` to continue an incomplete search; empty otherwise.' }),
  left_out: Type.Array(
    Type.Object({
      path: Type.String({ description: 'The path of the list.' }),
      reason: Type.String({
        description: '`denied`: the token may not list it. `unavailable`: its mount does not serve now. `failed`: the list failed.',
      }),
    }),
    { description: `What could not be looked at: at most ${SHOWN}.` },
  ),
  left_out_count: Type.Integer({ description: 'How many lists that are.' }),
});

/** `sys/internal/ui/search`: names of secrets, roles and the like, in all mounts at once. */
export function searchPaths({ mounts, search }: SearchPathDeps): AnyPath[] {
  return [
    path('internal/ui/search', {
      synopsis: 'Finds secrets, roles and other things by name.',
      description:
        'Looks for names in everything that the token may list, as `LIST` would show it: folders below folders that it may not list are found where its policies name them. A search ends ' +
        'after 2 seconds or `limit` hits, and says how to continue it. Values are not searched.',
      fields: {
        q: f.string('Words that the mount and the name have together, in whatever case. One of them is in the last part of the name.', {
          required: true,
        }),
        mount: f.string('Only in this mount. Default: all that the token reaches.'),
        folder: f.string('Only below this folder of the mount.'),
        after: f.string('Continues a search: the `after` of its answer.'),
        limit: f.int('At most this many hits, up to 1,000.', { minimum: 1, maximum: 1_000, default: 200 }),
      },
    }).read({
      summary: 'Finds things by name.',
      response: Found,
      handle: async (req) => {
        const { q = '', folder = '', after = '', limit } = req.data;
        const words = q.split(/\s+/u).filter((word) => word !== '');
        if (words.length === 0) throw new BadRequest('q must have a word to look for');
        if (q.length > 256) throw new BadRequest('q must not be longer than 256 characters');
        if (folder !== '' && !req.data.mount) throw new BadRequest('folder needs mount');
        const { acl } = internalOf(req);
        const reached = mounts.all().filter((mount) => acl!.reaches(mount.path));
        const among = req.data.mount ? reached.filter((mount) => mount.path === closed(req.data.mount!)) : reached;
        if (among.length === 0) throw new BadRequest(`mount: the token reaches no mount at ${JSON.stringify(req.data.mount)}`);
        const found = await search.search(req, { words, mounts: among, folder: closed(folder), after, limit });
        const { hits, stopped, left } = found;
        return {
          data: {
            hits: hits.map(({ mount, list, name }) => ({ mount: mount.path, type: mount.type, list, name })),
            complete: stopped === undefined,
            stopped: stopped?.by ?? '',
            after: stopped?.position ?? '',
            left_out: left.slice(0, SHOWN).map(({ path: at, reason }) => ({ path: at, reason })),
            left_out_count: left.length,
          },
        };
      },
    }),
  ];
}

/** With the slash that mounts and folders end in. */
function closed(text: string): string {
  const bare = text.replace(/^\/+|\/+$/g, '');
  return bare === '' ? '' : `${bare}/`;
}
