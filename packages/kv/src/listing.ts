import { boundsOf, compileDecoder, f, pageFields, type Collection, type Page as Bounds } from '@strongroom/engine-sdk';
import { Type } from 'typebox';

export const Keys = Type.Object({ keys: Type.Array(Type.String(), { description: 'Sorted; folders end in a slash.' }) });

/** `pageFields` where a secret may hold keys of these names: a write takes any value for them, and a list decodes them by itself. */
export const loosePageFields = {
  after: f.any('Lists only what comes after this entry, which need not exist.'),
  limit: f.any('Lists no more entries than this; 0 or less means all.'),
};

const decodePage = compileDecoder(pageFields);

/** @throws BadRequest */
export function pageOf(path: string, raw: Readonly<Record<string, unknown>>): Page {
  const { after, limit } = decodePage(raw, {}).data;
  return { path, after: after as string | undefined, limit: limit as number | undefined };
}

export interface Page extends Bounds {
  readonly path: string;
}

/** The folder that a list of `path` shows: '' or with a closing slash. */
export function folderOf(path: string): string {
  return path === '' || path.endsWith('/') ? path : `${path}/`;
}

/** One level below the path; undefined when nothing is there. */
export async function listKeys(secrets: Collection<unknown>, page: Page): Promise<{ data: { keys: string[] } } | undefined> {
  const keys = await secrets.listFolder({ folder: folderOf(page.path), ...boundsOf(page) });
  return keys.length === 0 ? undefined : { data: { keys } };
}
