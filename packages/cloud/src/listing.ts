import { f, type Collection } from '@strongroom/engine-sdk';
import { Type } from 'typebox';

export const Keys = Type.Object({ keys: Type.Array(Type.String(), { description: 'In byte order.' }) });

export const pageFields = {
  after: f.string('Lists only what comes after this entry, which need not exist.'),
  limit: f.int('Lists no more entries than this; 0 or less means all.'),
};

interface Page {
  readonly after: string | undefined;
  readonly limit: number | undefined;
}

/** Names of a collection, as clients list them; undefined when there are none. */
export async function keysOf(collection: Collection<unknown>, { after, limit }: Page): Promise<{ data: { keys: string[] } } | undefined> {
  const keys = await collection.list({
    ...(after === undefined || after === '' ? {} : { after }),
    ...(limit === undefined || limit <= 0 ? {} : { limit }),
  });
  return keys.length === 0 ? undefined : { data: { keys } };
}
