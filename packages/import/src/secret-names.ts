import type { Context } from './context.ts';
import { isLine, walk } from './listing.ts';
import type { SourceMount } from './mount-map.ts';
import type { Line } from './thing.ts';

/** The kind of a secret of either version, in reports and checkpoints. */
export const SECRET = 'secret';

/** The names of a mount's secrets that come, listed below `root`; and lines for folders that are refused and for secrets that an interrupted import has carried. */
export async function* secretNames(context: Context, mount: SourceMount, root: string): AsyncGenerator<string | Line> {
  const { selection, checkpoint } = context;
  for await (const found of walk(context, SECRET, root, (folder) => selection.mayTake('kv', mount.path + folder))) {
    if (isLine(found)) {
      yield found;
      continue;
    }
    const path = mount.path + found;
    if (!selection.takes('kv', path)) continue;
    const outcome = checkpoint.outcome(SECRET, path);
    yield outcome === undefined ? found : { kind: SECRET, path, outcome, why: 'by an import that was interrupted' };
  }
}
