import { Type } from 'typebox';
import { f } from './field.ts';
import { path, type AnyPath } from './path.ts';
import type { Collection, ListQuery } from './storage-view.ts';

/** What a path that lists names answers. */
export const ListedKeys = Type.Object({ keys: Type.Array(Type.String(), { description: 'In byte order.' }) });

/** What a path that lists takes, to go through long lists page by page. */
export const pageFields = {
  after: f.string('Lists only what comes after this entry, which need not exist.'),
  limit: f.int('Lists no more entries than this; 0 or less means all.'),
};

export interface Page {
  readonly after: string | undefined;
  readonly limit: number | undefined;
}

/** The bounds that storage is asked with: what was not sent, or bounds nothing, is left out. */
export function boundsOf({ after, limit }: Page): Pick<ListQuery, 'after' | 'limit'> {
  return { ...(after === undefined || after === '' ? {} : { after }), ...(limit === undefined || limit <= 0 ? {} : { limit }) };
}

/** A page of the names in a collection; undefined, which is a 404, where there are none. */
export async function keysOf(
  names: Pick<Collection<unknown>, 'list'>,
  page: Page,
): Promise<{ readonly data: { readonly keys: string[] } } | undefined> {
  const keys = await names.list(boundsOf(page));
  return keys.length === 0 ? undefined : { data: { keys } };
}

/** The words of a path that lists names. */
export interface NamesPath {
  readonly synopsis: string;
  /** Default: `Lists names only.` */
  readonly description?: string;
  /** Default: the synopsis, as a sentence about what is done: `Lists the names of the roles.` */
  readonly summary?: string;
  /** GET lists as well. */
  readonly byGet?: boolean;
}

/** A path that lists the names in a collection, page by page. */
export function namesPath(
  pattern: string,
  names: Pick<Collection<unknown>, 'list'>,
  { synopsis, description = 'Lists names only.', summary, byGet = false }: NamesPath,
): AnyPath {
  const op = {
    summary: summary ?? `Lists ${synopsis.charAt(0).toLowerCase()}${synopsis.slice(1)}`,
    response: ListedKeys,
    handle: async ({ data }: { readonly data: Page }) => keysOf(names, data),
  };
  const listed = path(pattern, { synopsis, description, fields: pageFields }).list(op);
  return byGet ? listed.read(op) : listed;
}
