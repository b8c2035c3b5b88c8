import { keysOf, ListedKeys, pageFields, path, type AnyPath, type Collection, type Page } from '@strongroom/engine-sdk';

/** A path that lists names, by LIST and by GET. */
export function listPath(pattern: string, synopsis: string, names: Pick<Collection<unknown>, 'list'>): AnyPath {
  const summary = `Lists ${synopsis.charAt(0).toLowerCase()}${synopsis.slice(1).replace(/\.$/, '')}.`;
  const handle = async ({ data }: { readonly data: Page }) => keysOf(names, data);
  return path(pattern, { synopsis, description: 'Lists names only.', fields: pageFields })
    .list({ summary, response: ListedKeys, handle })
    .read({ summary, response: ListedKeys, handle });
}
