import { type AnyPath, BadRequest, f, namesPath, NoContent, path, type StorageView, Timestamp } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { httpUrl } from '../outside-url.ts';
import { derOf, LONGEST_LIST, type ListStore, type NamedList } from './list-store.ts';
import { ListUnusable, RevocationList } from './revocation-list.ts';

const TimeOrNull = Type.Union([Timestamp, Type.Null()]);
const List = Type.Object({
  serials: Type.Record(Type.String(), Type.Object({}), { description: 'By serial number.' }),
  issuer: Type.String(),
  this_update: Timestamp,
  next_update: TimeOrNull,
  allow_stale: Type.Boolean(),
  cdp: Type.Optional(
    Type.Object(
      { url: Type.String(), valid_until: TimeOrNull, next_fetch: TimeOrNull, last_error: Type.Union([Type.String(), Type.Null()]) },
      { description: 'Of a list that is fetched.' },
    ),
  ),
});

/** `crls` and `crls/:name`. */
export function crlPaths(lists: ListStore, storage: StorageView): AnyPath[] {
  const found = async (name: string): Promise<NamedList> => {
    const list = await lists.get(name);
    if (!list) throw new BadRequest(`no such CRL ${name}`);
    return list;
  };
  return [
    namesPath('crls', lists.names, { synopsis: 'Names of the revocation lists.' }),
    path('crls/{name}', {
      synopsis: 'Configure a certificate revocation list.',
      description:
        'A list applies to certificates of the CA that signed it. After it expires (`nextUpdate`), certificates of that CA are refused until a newer list is ' +
        'stored, unless allow_stale is set. A list with a URL is fetched by the write, and then periodically in the background.',
      fields: {
        name: f.name('Name of the list.', { folds: (name) => name.toLowerCase() }),
        crl: f.string('The list: PEM, or DER as base64.'),
        url: f.string('The http or https URL of the list.'),
        allow_stale: f.bool('Keep using the list after it expires. By default, an expired list refuses all certificates of its CA.', {
          default: false,
        }),
      },
    })
      .read({
        summary: 'Read the serial numbers of a list.',
        response: List,
        handle: async ({ data: { name } }) => {
          const { list, url, allowStale } = await found(name);
          const status = url === '' ? undefined : await storage.jobStatus(lists.job, name);
          return {
            data: {
              serials: Object.fromEntries(list.serials().map((serial) => [serial, {}])),
              issuer: list.issuer,
              this_update: new Date(list.thisUpdate).toISOString(),
              next_update: instant(list.nextUpdate),
              allow_stale: allowStale,
              ...(url === ''
                ? {}
                : {
                    cdp: {
                      url,
                      valid_until: instant(list.nextUpdate),
                      next_fetch: instant(status?.nextAttempt.getTime()),
                      last_error: status?.lastError?.message ?? null,
                    },
                  }),
            },
          };
        },
      })
      .update({
        summary: 'Store a list, or its URL.',
        response: NoContent,
        handle: async ({ data, supplied, signal }) => {
          const { name, crl = '', url = '', allow_stale: allowStale } = data;
          if (supplied.has('url') && url === '') throw new BadRequest('empty CRL url');
          if ((crl === '') === (url === '')) throw new BadRequest("one of 'crl' or 'url' must be provided");
          const place = url === '' ? undefined : httpUrl(url);
          if (url !== '' && !place) throw new BadRequest(`url: ${JSON.stringify(url)} is not a URL with http or https`);
          if (crl.length > LONGEST_LIST * 1.5) throw new BadRequest(`failed to parse CRL: it is longer than ${LONGEST_LIST} bytes`);
          try {
            const list = place ? await lists.fetch(place, signal) : RevocationList.read(derOf(crl));
            await lists.put(name, list, { url, allowStale });
            return (await lists.isKnown(list)) ? undefined : { warnings: [unknownAuthority(list)] };
          } catch (error) {
            throw error instanceof ListUnusable ? new BadRequest(`failed to parse CRL: ${error.message}`) : error;
          }
        },
      })
      .delete({
        summary: 'Delete a list.',
        response: NoContent,
        handle: async ({ data: { name } }) => {
          await found(name);
          await lists.delete(name);
          return undefined;
        },
      }),
  ];
}

function instant(millis: number | undefined): string | null {
  return millis === undefined ? null : new Date(millis).toISOString();
}

function unknownAuthority({ issuer }: RevocationList): string {
  return `no role has the CA ${JSON.stringify(issuer)} that issued this list: its signature is checked when a certificate of that CA logs in`;
}
