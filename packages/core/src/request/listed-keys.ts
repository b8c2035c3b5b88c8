import { setImmediate } from 'node:timers/promises';
import { NotFound, pageIn, PermissionDenied } from '@strongroom/engine-sdk';
import type { CoreResponse } from '../kernel/call/core-response.ts';
import type { MountFinder } from '../kernel/mounts/canonical-path.ts';
import type { Acl } from '../services/policies/acl.ts';
import { isShown } from '../services/policies/shown-keys.ts';
import type { Call } from './call.ts';

/** Keys asked for at once to fill a page that hidden keys left open, and checked at once while other calls wait. */
const MORE = 1_000;

interface Listing {
  readonly keys: readonly string[];
  readonly key_info?: Readonly<Record<string, unknown>>;
}

export interface ListedKeysParts {
  readonly mounts: MountFinder;
  /** The `limit` of the call. */
  readonly limit: unknown;
  /** Asks the engine for the keys after one; `limit` is how many. */
  next(page: { readonly after: string; readonly limit: number }): Promise<CoreResponse>;
}

/** Whether something may have to be left out of the answer. */
export function mayHideKeys({ acl, operation, keysFilters }: Call): boolean {
  return acl !== undefined && !acl.root && (operation === 'scan' || keysFilters.length > 0);
}

/**
 * Leaves out of a list or scan what its caller may not see. Of a scan, what is below folders that a rule bars the caller from: who may not list a folder does not learn its
 * keys from above. Of both, what a filter of the rule hides. A hidden key does not end a page early: further keys take its place.
 * @throws NotFound when no key is left, and PermissionDenied for an answer that a filter of the rule cannot be applied to
 */
export async function withoutHiddenKeys(call: Call, answer: CoreResponse, { mounts, limit, next }: ListedKeysParts): Promise<CoreResponse> {
  const { acl, operation, keysFilters } = call;
  if (!acl || !mayHideKeys(call)) return answer;
  if (keysFilters.length > 0 && !canBeFiltered(answer)) {
    throw new PermissionDenied(
      'permission denied: list_scan_response_keys_filter_path of a policy applies, and this answer is not a list of keys alone',
    );
  }
  if (!isListing(answer.data)) return answer;
  const listing = answer.data;
  const isBarred = operation === 'scan' ? barredNames(acl, call.path) : () => false;
  const seen = async (all: readonly string[]): Promise<string[]> =>
    kept(all, (key) => !isBarred(key) && isShown({ acl, mounts }, keysFilters, call.path, key));
  const keys = await seen(listing.keys);
  if (keys.length === listing.keys.length) return answer;
  const size = canPage(call) ? (pageIn({ limit: limit ?? 0 }).limit ?? 0) : 0;
  let [page, asked, info] = [listing, size, listing.key_info];
  while (size > 0 && keys.length < size && page.keys.length >= asked) {
    asked = Math.max(size, MORE);
    page = await keysAfter(next, page.keys.at(-1)!, asked);
    keys.push(...(await seen(page.keys)));
    if (info) info = { ...info, ...page.key_info };
  }
  if (keys.length === 0) throw new NotFound();
  if (size > 0) keys.length = Math.min(keys.length, size);
  return { ...answer, data: { ...listing, keys, ...(info ? { key_info: Object.fromEntries(keys.map((key) => [key, info[key]])) } : {}) } };
}

/** Filters without holding up other calls. */
async function kept(all: readonly string[], isKept: (key: string) => boolean): Promise<string[]> {
  const keys: string[] = [];
  for (let from = 0; from < all.length; from += MORE) {
    if (from > 0) await setImmediate();
    for (const key of all.slice(from, from + MORE)) if (isKept(key)) keys.push(key);
  }
  return keys;
}

function isListing(data: unknown): data is Listing {
  return typeof data === 'object' && data !== null && Array.isArray((data as { keys?: unknown }).keys);
}

/** Whether the answer tells nothing but keys, and what belongs to each of them. */
function canBeFiltered({ data, raw, stream, leaseId, auth }: CoreResponse): boolean {
  if (raw !== undefined || stream !== undefined || leaseId !== '' || auth !== null) return false;
  return data === null || (isListing(data) && Object.keys(data).every((field) => field === 'keys' || field === 'key_info'));
}

function canPage(call: Call): boolean {
  const fields = call.match!.path.declaration.about.fields as object;
  return Object.hasOwn(fields, 'limit') && Object.hasOwn(fields, 'after');
}

async function keysAfter(next: ListedKeysParts['next'], after: string, limit: number): Promise<Listing> {
  try {
    return (await next({ after, limit })).data as unknown as Listing;
  } catch (error) {
    if (error instanceof NotFound) return { keys: [] };
    throw error;
  }
}

/** Whether a key below the folder `asked` is in a barred folder, or below one. */
function barredNames(acl: Acl, asked: string): (key: string) => boolean {
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
