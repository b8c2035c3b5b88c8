import { f, type Collection } from '@strongroom/engine-sdk';

export const listFields = {
  after: f.string('Only names after this one.', { default: '' }),
  limit: f.int('At most so many names; 0 or less is without limit.', { default: 0 }),
} as const;

/** The names in byte order; undefined when there are none. */
export async function namesReply(
  records: Pick<Collection<unknown>, 'list'>,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ data: { keys: string[] } } | undefined> {
  const keys = await records.list({ ...(after === '' ? {} : { after }), ...(limit > 0 ? { limit } : {}) });
  return keys.length > 0 ? { data: { keys } } : undefined;
}
