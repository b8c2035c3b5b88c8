import { boundsOf, f, namesBelow, pageIn, type Collection, type Page as Bounds } from '@strongroom/engine-sdk';
import { Type } from 'typebox';

export const Keys = Type.Object({ keys: Type.Array(Type.String(), { description: 'Sorted; folders end in a slash.' }) });

/** `pageFields` where a secret may hold keys of these names: a write takes any value for them, and a list decodes them by itself. */
export const loosePageFields = {
  after: f.any('Lists only entries after this one, which need not exist.'),
  limit: f.any('Lists at most this many entries; 0 or less means all.'),
};

/** @throws BadRequest */
export function pageOf(path: string, raw: Readonly<Record<string, unknown>>): Page {
  return { path, ...pageIn(raw) };
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

/** Everything below the path; undefined when nothing is there. */
export async function scanKeys(secrets: Collection<unknown>, page: Page): Promise<{ data: { keys: string[] } } | undefined> {
  return namesBelow(secrets, folderOf(page.path), page);
}
