import {
  UpstreamFailed,
  type Collection,
  type EngineHost,
  type Schedule,
  type StorageView,
  type Transaction,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { OutsideRefused, targetOf, type OutsideHttp } from '../outside-http.ts';
import { Remembered } from '../remembered.ts';
import type { Certificate } from '../x509/certificate.ts';
import { ListUnusable, RevocationList } from './revocation-list.ts';

const PREFIX = 'crls/';
/** Longer lists are refused: reading one takes time that other requests wait for. */
export const LONGEST_LIST = 8 * 1024 * 1024;
const FETCH_MILLIS = 20_000;
const MINUTE = 60_000;
const DAY = 86_400_000;

const StoredList = Type.Object({
  /** DER as base64. */
  der: Type.String(),
  /** Where it is fetched again; '' for a list that was uploaded. */
  url: Type.String(),
  allow_stale: Type.Boolean(),
});
type StoredList = Static<typeof StoredList>;

const Refresh = Type.Object({ name: Type.String(), url: Type.String() });

/** A list of the mount. */
export interface NamedList {
  readonly name: string;
  readonly list: RevocationList;
  readonly url: string;
  /** It counts after its `nextUpdate` too. */
  readonly allowStale: boolean;
}

export interface ListStoreParts extends Pick<EngineHost, 'storage' | 'clock' | 'log' | 'mount'> {
  readonly http: OutsideHttp;
  /** The CAs of all roles. */
  authorities(): Promise<readonly Certificate[]>;
}

/** The revocation lists of the mount: read once until one changes, and fetched again in the background before they end. */
export class ListStore {
  readonly #parts: ListStoreParts;
  readonly #lists: Remembered<ReadonlyMap<string, NamedList>>;
  /** Fetches a list again. A failure is retried with backoff; until the list ends, the stored one counts. */
  readonly job: Schedule<typeof Refresh>;

  constructor(parts: ListStoreParts) {
    this.#parts = parts;
    this.#lists = new Remembered(async () => this.#load());
    this.job = {
      kind: 'cert-crl-refresh',
      entry: Refresh,
      target: ({ url }) => targetOf(new URL(url)),
      run: async ({ name, url }, _storage, signal) => this.#refresh(name, url, signal),
    };
  }

  async all(): Promise<readonly NamedList[]> {
    return [...(await this.#lists.get()).values()];
  }

  async get(name: string): Promise<NamedList | undefined> {
    return (await this.#lists.get()).get(name);
  }

  get names(): Pick<Collection<unknown>, 'list'> {
    return { list: async (query) => recordsOf(this.#parts.storage).list(query) };
  }

  /** The list at a URL now. @throws UpstreamFailed, ListUnusable */
  async fetch(url: URL, signal: AbortSignal): Promise<RevocationList> {
    const what = 'the revocation list server';
    const body = await this.#parts.http.ask({ url, what, maxBytes: LONGEST_LIST, millis: FETCH_MILLIS, signal });
    return RevocationList.read(derOf(body));
  }

  /** Stores a list, and plans its next fetch if it has a URL. @throws ListUnusable for a list with a wrong signature */
  async put(
    name: string,
    list: RevocationList,
    { url, allowStale }: { readonly url: string; readonly allowStale: boolean },
  ): Promise<void> {
    await this.#requireSignature(list);
    await this.#storing(async (tx) => {
      await recordsOf(tx).put(name, { der: list.der.toString('base64'), url, allow_stale: allowStale });
      if (url === '') await tx.unschedule(this.job, name);
      else await tx.schedule(this.job, name, this.#nextFetch(list), { name, url });
    });
  }

  async delete(name: string): Promise<void> {
    await this.#storing(async (tx) => {
      await recordsOf(tx).delete(name);
      await tx.unschedule(this.job, name);
    });
  }

  /** Whether a CA of the mount has this name, so that the signature of the list is checked now and not only at a login. */
  async isKnown({ issuerId }: RevocationList): Promise<boolean> {
    return (await this.#parts.authorities()).some(({ subjectId }) => subjectId === issuerId);
  }

  invalidate(key: string): void {
    if (key.startsWith(PREFIX)) this.#lists.forget();
  }

  async #load(): Promise<ReadonlyMap<string, NamedList>> {
    const { storage, log, mount } = this.#parts;
    const lists = new Map<string, NamedList>();
    for (const [name, { der, url, allow_stale }] of await recordsOf(storage).entries()) {
      try {
        lists.set(name, { name, list: RevocationList.read(Buffer.from(der, 'base64')), url, allowStale: allow_stale });
      } catch (error) {
        log.error('a stored revocation list cannot be read', { mount: mount.path, list: name, error });
        throw error;
      }
    }
    return lists;
  }

  async #refresh(name: string, url: string, signal: AbortSignal): Promise<Date | undefined> {
    const { storage } = this.#parts;
    const stored = await recordsOf(storage).get(name);
    if (stored?.url !== url) return undefined;
    const before = RevocationList.read(Buffer.from(stored.der, 'base64'));
    const list = await this.fetch(new URL(url), signal).catch((error: unknown) => {
      throw error instanceof ListUnusable ? new OutsideRefused(`the list at ${url} cannot be used: ${error.message}`) : error;
    });
    await this.#requireSuccessor(before, list, url);
    await this.#storing(async (tx) => {
      const present = await recordsOf(tx).get(name);
      if (present?.url === url) await recordsOf(tx).put(name, { ...present, der: list.der.toString('base64') });
    });
    return this.#nextFetch(list);
  }

  /** Whoever stands between could send an old list, in which nobody is revoked yet. */
  async #requireSuccessor(before: RevocationList, list: RevocationList, url: string): Promise<void> {
    if (list.issuerId !== before.issuerId) throw new OutsideRefused(`the list at ${url} is of another CA than before: ${list.issuer}`);
    if (list.thisUpdate < before.thisUpdate) throw new OutsideRefused(`the list at ${url} is older than the one that is stored`);
    await this.#requireSignature(list).catch((error: unknown) => {
      throw new UpstreamFailed(`the list at ${url} cannot be used: ${(error as Error).message}`);
    });
  }

  async #requireSignature(list: RevocationList): Promise<void> {
    const authorities = (await this.#parts.authorities()).filter(({ subjectId }) => subjectId === list.issuerId);
    if (authorities.length > 0 && !authorities.some((authority) => list.isOf(authority))) {
      throw new ListUnusable(`the CA ${JSON.stringify(list.issuer)} of this mount has not signed it, or may not sign lists`);
    }
  }

  async #storing(work: (tx: Transaction) => Promise<void>): Promise<void> {
    try {
      await this.#parts.storage.transaction(work);
    } finally {
      this.#lists.forget();
    }
  }

  /** Halfway to the end of the list, so that a failure leaves time to try again; at least once a day, since lists are made sooner than they end. */
  #nextFetch({ nextUpdate }: RevocationList): Date {
    const now = this.#parts.clock.millis();
    const half = nextUpdate === undefined ? DAY : (nextUpdate - now) / 2;
    return new Date(now + Math.min(DAY, Math.max(MINUTE, half)));
  }
}

/** The list in a text or in bytes: PEM, DER, or DER as base64. */
export function derOf(content: string | Buffer): Buffer {
  if (typeof content !== 'string' && content[0] === 0x30) return content;
  const text = content.toString('latin1');
  const [, pem] = /-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]+)-----END/.exec(text) ?? [];
  return text.startsWith('0') && pem === undefined && !/^[A-Za-z0-9+/=\s]+$/.test(text)
    ? Buffer.from(text, 'latin1')
    : Buffer.from(pem ?? text, 'base64');
}

function recordsOf(view: StorageView | Transaction): Collection<StoredList> {
  return view.collection(PREFIX, StoredList, { cached: true });
}
