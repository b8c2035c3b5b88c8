import { Type } from 'typebox';
import { f } from './field.ts';
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
