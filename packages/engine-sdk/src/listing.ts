import { Type } from 'typebox';
import { compileDecoder } from './decode.ts';
import { f } from './field.ts';
import { path, type AnyPath } from './path.ts';
import type { Collection, ListQuery } from './storage-view.ts';

/** What a path that lists names responds with. */
export const ListedKeys = Type.Object({ keys: Type.Array(Type.String(), { description: 'In byte order.' }) }, { title: 'Keys' });

/** The parameters of a path that lists: clients read a long list page by page. */
export const pageFields = {
  after: f.string('Lists only entries after this one, which need not exist.'),
  limit: f.int('Lists at most this many entries; 0 or less means all.'),
};

/** The page that a caller asks for: names after `after`, and at most `limit` of them. */
export interface Page {
  readonly after: string | undefined;
  readonly limit: number | undefined;
}

const decodePage = compileDecoder(pageFields);

/** The page in the parameters of a request whose path takes any data, so that `pageFields` cannot be its fields. @throws BadRequest */
export function pageIn(raw: Readonly<Record<string, unknown>>): Page {
  const { after, limit } = decodePage(raw, {}).data;
  return { after: after as string | undefined, limit: limit as number | undefined };
}

/** The bounds of a storage query for the page. A parameter that was not sent, or that bounds nothing, is omitted. */
export function boundsOf({ after, limit }: Page): Pick<ListQuery, 'after' | 'limit'> {
  return { ...(after === undefined || after === '' ? {} : { after }), ...(limit === undefined || limit <= 0 ? {} : { limit }) };
}

/** A page of items in memory, which are sorted by their keys. */
export function slicePage<T>(items: readonly T[], page: Page, keyOf: (item: T) => string): T[] {
  const { after = '', limit = Infinity } = boundsOf(page);
  return items.filter((item) => keyOf(item) > after).slice(0, limit);
}

/** A page of the names in a collection; undefined, which is a 404, if there are none. */
export async function keysOf(
  names: Pick<Collection<unknown>, 'list'>,
  page: Page,
): Promise<{ readonly data: { readonly keys: string[] } } | undefined> {
  const keys = await names.list(boundsOf(page));
  return keys.length === 0 ? undefined : { data: { keys } };
}

/** A page of one level of a collection whose ids are like paths; undefined, which is a 404, if there is nothing. `folder` is '' or a path. */
async function folderOf(
  names: Pick<Collection<unknown>, 'listFolder'>,
  folder: string,
  page: Page,
): Promise<{ readonly data: { readonly keys: string[] } } | undefined> {
  const keys = await names.listFolder({ folder: folder === '' ? '' : `${folder}/`, ...boundsOf(page) });
  return keys.length === 0 ? undefined : { data: { keys } };
}

/** A page of all names below a folder, which is '' or ends in a slash, without it; undefined, which is a 404, if there are none. */
export async function namesBelow(
  names: Pick<Collection<unknown>, 'list'>,
  folder: string,
  page: Page,
): Promise<{ readonly data: { readonly keys: string[] } } | undefined> {
  const { after, ...bounds } = boundsOf(page);
  const found = await names.list({ prefix: folder, ...bounds, ...(after === undefined ? {} : { after: folder + after }) });
  return found.length === 0 ? undefined : { data: { keys: found.map((name) => name.slice(folder.length)) } };
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
export function namesPath(pattern: string, names: Pick<Collection<unknown>, 'list'>, words: NamesPath): AnyPath {
  return listPath(pattern, words, async (page) => keysOf(names, page));
}

/** A path that lists the uppermost level of a collection whose ids are like paths: names, and folders that end in a slash. */
export function foldersPath(pattern: string, names: Pick<Collection<unknown>, 'listFolder'>, words: NamesPath): AnyPath {
  const description = 'Lists one level: names, and folders, which end in a slash.';
  return listPath(pattern, { description, ...words }, async (page) => folderOf(names, '', page));
}

/** The list operation of a path that takes `name` and `pageFields`. */
export interface FolderList {
  readonly summary: string;
  readonly response: typeof ListedKeys;
  readonly searched: true;
  readonly takes: readonly ('after' | 'limit')[];
  readonly handle: (req: { readonly data: Page & { readonly name: string } }) => ReturnType<typeof keysOf>;
}

/** The operation that lists a level below it, for a path that ends in `{name:path}` and has `pageFields` among its fields. */
export function folderList(names: Pick<Collection<unknown>, 'listFolder'>, summary: string): FolderList {
  return {
    summary,
    response: ListedKeys,
    searched: true,
    takes: ['after', 'limit'],
    handle: async ({ data }) => folderOf(names, data.name, data),
  };
}

function listPath(
  pattern: string,
  { synopsis, description = 'Lists names only.', summary, byGet = false }: NamesPath,
  keys: (page: Page) => ReturnType<typeof keysOf>,
): AnyPath {
  const op = {
    summary: summary ?? `Lists ${synopsis.charAt(0).toLowerCase()}${synopsis.slice(1)}`,
    response: ListedKeys,
    searched: true,
    handle: async ({ data }: { readonly data: Page }) => keys(data),
  };
  const listed = path(pattern, { synopsis, description, fields: pageFields }).list(op);
  return byGet ? listed.read(op) : listed;
}
