import type { Context } from './context.ts';
import { canonical } from './json.ts';
import { isLine, readOrLine, type Found } from './listing.ts';
import type { SourceMount } from './mount-map.ts';
import { SECRET, secretNames } from './secret-names.ts';

/** Secrets of version 1: a value a path. */
export async function* findKv1(context: Context, mount: SourceMount): Found {
  const { source, target } = context;
  const kind = SECRET;
  for await (const found of secretNames(context, mount, mount.path)) {
    if (isLine(found)) {
      yield found;
      continue;
    }
    const path = mount.path + found;
    const to = mount.to + found;
    const read = await readOrLine(context, kind, path);
    if (read === undefined) continue;
    if (isLine(read)) {
      yield read;
      continue;
    }
    const matches = (current: unknown): boolean => canonical(current) === canonical(read);
    yield {
      ...{ kind, group: 'kv', path, to, content: read, matches },
      current: async () => target.read(to),
      state: (current) => current,
      write: async () => void (await target.write(to, read)),
      verify: async () => canonical(await source.read(path)) === canonical(await target.read(to)),
    };
  }
}
