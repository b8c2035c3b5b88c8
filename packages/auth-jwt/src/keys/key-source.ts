import type { Clock, Log, StorageView } from '@strongroom/engine-sdk';
import type { JsonObject } from '../json/json-pointer.ts';
import { discoveryUrl, readDiscovery, type DiscoveryDocument } from './discovery.ts';
import { getJson, type Fetched } from './get-json.ts';
import type { IssuerHttp, Trust } from './issuer-http.ts';
import { keysOfSet } from './jwks.ts';
import { keptCopy } from './kept-copies.ts';
import { pemKeys } from './pem-keys.ts';
import { RefreshingCache } from './refreshing-cache.ts';
import type { VerificationKey } from './verification-key.ts';

/** Where the keys of a configuration are. */
export type KeySourceSettings =
  | { readonly kind: 'keys'; readonly pems: readonly string[] }
  | { readonly kind: 'jwks'; readonly sets: readonly { readonly url: string; readonly trust: Trust }[] }
  | { readonly kind: 'discovery'; readonly url: string; readonly trust: Trust };

export interface KeySourceParts {
  readonly http: IssuerHttp;
  readonly clock: Clock;
  readonly log: Log;
  readonly storage: StorageView;
}

/** The keys that tokens are verified with. */
export interface KeySource {
  /** Resolves when what is stored of the sources can be used. Waits for nothing outside, and never rejects. */
  restored(): Promise<void>;
  /** The usable keys that are known now. */
  known(): readonly VerificationKey[];
  /** Looks at the sources again, all at once. False where there is nothing to look at, or somebody looked too often lately. */
  refresh(signal: AbortSignal): Promise<boolean>;
  /** Why the keys of a source are not known, or not known to be complete; undefined if all is well. */
  problem(): IncompleteKeys | undefined;
  /** What the issuer says of itself; undefined where the keys do not come by discovery. @throws what the fetch throws */
  discovery(signal: AbortSignal): Promise<DiscoveryDocument | undefined>;
  /** Fetches what is not known yet. Resolves when that was tried; never rejects. */
  warm(): Promise<void>;
  /** No more refreshes. */
  close(): void;
}

/** Keys of a source may be missing. */
export interface IncompleteKeys {
  /** Why the last look at the source failed. */
  readonly error: string;
  /** No usable key of the source is known. */
  readonly unknown: boolean;
}

/** Connects to nothing. */
export function makeKeySource(settings: KeySourceSettings, parts: KeySourceParts): KeySource {
  const { clock, http, log, storage } = parts;
  const cached = <T>(what: string, trust: Trust, fetch: (signal: AbortSignal) => Promise<Fetched>, read: (body: JsonObject) => T) =>
    new RefreshingCache<T>({ what, clock, log, fetch, read, kept: keptCopy(storage, log, what, trust) });
  switch (settings.kind) {
    case 'keys':
      return fixedKeys(pemKeys(settings.pems));
    case 'jwks':
      return remoteKeys(
        settings.sets.map(({ url, trust }) =>
          cached(`the keys at ${url}`, trust, async (signal) => getJson(http, url, { trust, signal }), keysOfSet),
        ),
      );
    case 'discovery': {
      const { url, trust } = settings;
      const documents = cached(
        `the discovery document of ${url}`,
        trust,
        async (signal) => getJson(http, discoveryUrl(url), { trust, signal }),
        (body) => readDiscovery(body, url),
      );
      const keys = cached(
        `the keys of ${url}`,
        trust,
        async (signal) => getJson(http, (await documents.get(signal)).jwksUri, { trust, signal }),
        keysOfSet,
      );
      return remoteKeys([keys], documents);
    }
  }
}

/** Keys that stay as they are. */
export function fixedKeys(keys: readonly VerificationKey[]): KeySource {
  return {
    restored: async () => undefined,
    known: () => keys,
    refresh: async () => false,
    problem: () => undefined,
    discovery: async () => undefined,
    warm: async () => undefined,
    close: () => undefined,
  };
}

function remoteKeys(
  sets: readonly RefreshingCache<readonly VerificationKey[]>[],
  documents?: RefreshingCache<DiscoveryDocument>,
): KeySource {
  return {
    restored: async () => void (await Promise.all(sets.map(async (set) => set.restored()))),
    known: () => sets.flatMap((set) => set.present ?? []),
    refresh: async (signal) => {
      // A failure is the source's problem, below.
      const looks = await Promise.all(sets.map(async (set) => set.refreshed(signal).catch(() => [])));
      signal.throwIfAborted();
      return looks.some((look) => look !== undefined);
    },
    problem: () => {
      const failed = sets.filter((set) => set.lastError !== undefined || set.present === undefined);
      if (failed.length === 0) return undefined;
      return {
        error: failed.find((set) => set.lastError !== undefined)?.lastError ?? 'not fetched yet',
        unknown: failed.some((set) => set.present === undefined),
      };
    },
    discovery: async (signal) => documents?.get(signal),
    warm: async () => void (await Promise.all(sets.map(async (set) => set.warm()))),
    close: () => {
      for (const cache of [documents, ...sets]) cache?.close();
    },
  };
}
