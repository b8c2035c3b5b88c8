import { TooManyRequests, withDeadline, type Clock, type EngineRequest, type Log } from '@strongroom/engine-sdk';
import type { Mount } from '../../kernel/mounts/mount.ts';
import { internalOf } from '../caller/internal-request.ts';
import type { MountTable } from '../mounts/mount-table.ts';
import { FolderReader } from './folder-reader.ts';
import { nameMatcher } from './name-match.ts';
import { reachableFolders } from './reachable-folders.ts';
import { Rounds } from './rounds.ts';
import { searchedLists, type SearchedList } from './searched-lists.ts';
import { Walk, type LeftOut } from './walk.ts';

/** Milliseconds of one search. */
const BUDGET = 2_000;
/** Searches under way: of all callers, and of one token. */
const MOST = 64;
const MOST_OF_ONE = 4;

/** What is looked for. */
export interface SearchOrder {
  readonly words: readonly string[];
  readonly mounts: readonly Mount[];
  /** Below a mount: only what is in this folder of its lists, which ends in a slash. '' for everything. */
  readonly folder: string;
  /** The `position` of the search that this one continues; '' for a new one. */
  readonly after: string;
  readonly limit: number;
}

/** A name that was found. */
export interface Hit {
  readonly mount: Mount;
  /** The list that has it, below the mount: '' or with a closing slash. */
  readonly list: string;
  /** Below the list. That of a folder ends in a slash. */
  readonly name: string;
}

/** What a search has found, and how far it came. */
export interface Found {
  readonly hits: readonly Hit[];
  /** Absent when everything was looked at. */
  readonly stopped?: { readonly by: 'limit' | 'time'; readonly position: string };
  readonly left: readonly LeftOut[];
}

/** Finds names in the lists that engines declare as searched, as far as the caller may list them. */
export class NameSearch {
  readonly #mounts: MountTable;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #rounds = new Rounds();
  /** Searches under way, by token. */
  readonly #underWay = new Map<string, number>();
  #all = 0;

  constructor(parts: { mounts: MountTable; clock: Clock; log: Log }) {
    this.#mounts = parts.mounts;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  /** Searches for the caller of the request, until its signal is aborted. @throws TooManyRequests */
  async search(request: EngineRequest, order: SearchOrder): Promise<Found> {
    const { tokenDigest } = request.caller;
    const mine = this.#underWay.get(tokenDigest) ?? 0;
    if (this.#all >= MOST || mine >= MOST_OF_ONE) {
      throw new TooManyRequests('too many searches are under way', { headers: { 'Retry-After': '1' } });
    }
    this.#all += 1;
    this.#underWay.set(tokenDigest, mine + 1);
    try {
      const limits = { clock: this.#clock, millis: BUDGET, parent: request.signal, grace: Infinity };
      return await withDeadline(limits, async (signal) => this.#walk(request, order, signal));
    } finally {
      this.#all -= 1;
      const left = this.#underWay.get(tokenDigest)! - 1;
      if (left === 0) this.#underWay.delete(tokenDigest);
      else this.#underWay.set(tokenDigest, left);
    }
  }

  async #walk(request: EngineRequest, order: SearchOrder, signal: AbortSignal): Promise<Found> {
    const lists = new Map<string, SearchedList>();
    for (const mount of order.mounts) {
      for (const list of searchedLists(mount)) {
        if (order.folder === '' || list.deep) lists.set(mount.path + list.below + order.folder, list);
      }
    }
    const walk = new Walk({
      reader: new FolderReader({ mounts: this.#mounts, request, signal }),
      reachable: reachableFolders(internalOf(request).acl!),
      ...{ after: order.after, signal },
      rest: async () => this.#rounds.next(),
      onFault: (folder, error) => this.#log.error('a list could not be searched', { path: folder, error: String(error) }),
    });
    const matches = nameMatcher(order.words);
    const hits: Hit[] = [];
    const found = (by?: 'limit' | 'time'): Found => ({
      hits,
      ...(by ? { stopped: { by, position: walk.position } } : {}),
      // Whom a list of roles is closed to learns nothing from that; a folder of secrets may be what they look for.
      left: walk.left.filter(({ path, reason }) => reason !== 'denied' || lists.get(path)?.deep !== false),
    });
    for await (const piece of walk.paths([...lists.keys()])) {
      const [, { mount, below }] = [...lists].find(([start]) => piece[0]!.startsWith(start))!;
      for (const path of piece) {
        const name = path.slice(mount.path.length + below.length);
        if (!matches(mount.path + name)) continue;
        hits.push({ mount, list: below, name });
        if (hits.length < order.limit) continue;
        walk.position = path;
        return found('limit');
      }
    }
    return found(signal.aborted ? 'time' : undefined);
  }
}
