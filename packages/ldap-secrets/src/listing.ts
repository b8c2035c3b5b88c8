import { f, path, type AnyPath, type Collection } from '@strongroom/engine-sdk';
import { Type } from 'typebox';

const Keys = Type.Object({ keys: Type.Array(Type.String(), { description: 'In byte order.' }) });

/** A path that lists names, by LIST and by GET. */
export function listPath(pattern: string, synopsis: string, names: Pick<Collection<unknown>, 'list'>): AnyPath {
  const summary = `Lists ${synopsis.charAt(0).toLowerCase()}${synopsis.slice(1).replace(/\.$/, '')}.`;
  const handle = async ({ data: { after, limit } }: { readonly data: { readonly after: string; readonly limit: number } }) => {
    const keys = await names.list({ ...(after === '' ? {} : { after }), ...(limit > 0 ? { limit } : {}) });
    return keys.length === 0 ? undefined : { data: { keys } };
  };
  return path(pattern, {
    synopsis,
    description: 'Lists names only.',
    fields: {
      after: f.string('Lists only what comes after this name, which need not exist.', { default: '' }),
      limit: f.int('Lists no more names than this; 0 or less means all.', { default: 0 }),
    },
  })
    .list({ summary, response: Keys, handle })
    .read({ summary, response: Keys, handle });
}
