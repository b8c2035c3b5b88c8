import { flag } from '../flag.ts';

/** Which part of a list of work to print. */
export const workFlags = {
  failing: flag.boolean('Only what failed at its last try.'),
  mount: flag.text('Only what belongs to this mount.', { placeholder: 'path' }),
  after: flag.text('Begin after this entry, the last one of the previous page.', { placeholder: 'entry' }),
  limit: flag.integer('Print at most so many.'),
} as const;

/** The flags as the server takes them. */
export function workQuery(flags: {
  readonly failing: boolean;
  readonly mount: string | undefined;
  readonly after: string | undefined;
  readonly limit: number | undefined;
}): Record<string, string | undefined> {
  return {
    failing: flags.failing ? 'true' : undefined,
    mount: flags.mount,
    after: flags.after,
    limit: flags.limit === undefined ? undefined : String(flags.limit),
  };
}
