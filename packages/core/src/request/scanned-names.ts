import { NotFound, pageIn } from '@strongroom/engine-sdk';
import type { CoreResponse } from '../kernel/call/core-response.ts';
import type { Acl } from '../services/policies/acl.ts';
import type { Call } from './call.ts';

/** Names asked for at once to fill a page that hidden folders left open. */
const MORE = 1_000;

interface Listing {
  readonly keys: readonly string[];
  readonly key_info?: Readonly<Record<string, unknown>>;
}

/** Asks the engine for the names after one; `limit` is how many. */
export type NextNames = (page: { readonly after: string; readonly limit: number }) => Promise<CoreResponse>;

/**
 * Leaves out of a scan what is below folders that a rule bars the caller from: who may not list a folder does not learn its names from above. Such a folder does not end
 * a page early: further names take the place of its own. `limit` is that of the page. @throws NotFound when no name is left
 */
export async function withoutBarredFolders(call: Call, answer: CoreResponse, limit: unknown, next: NextNames): Promise<CoreResponse> {
  if (call.operation !== 'scan' || !isListing(answer.data) || call.acl!.root) return answer;
  const listing = answer.data;
  const isHidden = hiddenNames(call.acl!, call.path);
  const keys = listing.keys.filter((key) => !isHidden(key));
  if (keys.length === listing.keys.length) return answer;
  const size = pageIn({ limit: limit ?? 0 }).limit ?? 0;
  let [page, asked, info] = [listing, size, listing.key_info];
  while (size > 0 && keys.length < size && page.keys.length >= asked) {
    asked = Math.max(size, MORE);
    page = await namesAfter(next, page.keys.at(-1)!, asked);
    keys.push(...page.keys.filter((key) => !isHidden(key)));
    if (info) info = { ...info, ...page.key_info };
  }
  if (keys.length === 0) throw new NotFound();
  if (size > 0) keys.length = Math.min(keys.length, size);
  return { ...answer, data: { ...listing, keys, ...(info ? { key_info: Object.fromEntries(keys.map((key) => [key, info[key]])) } : {}) } };
}

function isListing(data: unknown): data is Listing {
  return typeof data === 'object' && data !== null && Array.isArray((data as { keys?: unknown }).keys);
}

async function namesAfter(next: NextNames, after: string, limit: number): Promise<Listing> {
  try {
    return (await next({ after, limit })).data as unknown as Listing;
  } catch (error) {
    if (error instanceof NotFound) return { keys: [] };
    throw error;
  }
}

/** Whether a name below the folder `asked` is in a barred folder, or below one. */
function hiddenNames(acl: Acl, asked: string): (key: string) => boolean {
  const known = new Map<string, boolean>([['', false]]);
  const isBarred = (folder: string): boolean => {
    let barred = known.get(folder);
    if (barred === undefined) {
      const above = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);
      known.set(folder, (barred = isBarred(above) || acl.bars(asked + folder, asked)));
    }
    return barred;
  };
  return (key) => isBarred(key.slice(0, key.lastIndexOf('/') + 1));
}
