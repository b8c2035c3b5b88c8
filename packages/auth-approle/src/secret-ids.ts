import { type Clock, type Collection, type Page, type StorageView, type Transaction, keysOf } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Digests } from './digests.ts';
import { isExpired, SecretId } from './secret-id.ts';

type View = Pick<StorageView, 'collection'>;

const Accessor = Type.Object({ digest: Type.String() });
/** An entry of the index by expiry; its id says everything. */
const Expiry = Type.Object({});
/** Digits of a time in milliseconds, so that byte order is the order of time. */
const TIME_DIGITS = 15;
/** Secret ids that one transaction removes. */
const CHUNK = 250;

export interface FoundSecretId {
  readonly digest: string;
  readonly record: SecretId;
}

/**
 * The secret ids of all roles: `secret-id/<role key>/<digest>` the record, `accessor/<role key>/<accessor>` the way to it, and
 * `expiry/<time>/<role key>/<digest>` where it expires. A record and its index entries are written and deleted together.
 */
export class SecretIds {
  readonly #digests: Digests;
  readonly #clock: Clock;

  constructor(digests: Digests, clock: Clock) {
    this.#digests = digests;
    this.#clock = clock;
  }

  /** One that has not expired. `role`: the key of the role, or of none. */
  async find(view: View, role: string, secretId: string): Promise<FoundSecretId | undefined> {
    const found = await this.findEvenExpired(view, role, secretId);
    return found && !isExpired(found.record, this.#clock.millis()) ? found : undefined;
  }

  async findEvenExpired(view: View, role: string, secretId: string): Promise<FoundSecretId | undefined> {
    const digest = this.#digests.ofSecretId(role, secretId);
    const record = await records(view, role).get(digest);
    return record && { digest, record };
  }

  async findByAccessor(view: View, role: string, accessor: string): Promise<FoundSecretId | undefined> {
    if (!isStorable(accessor)) return undefined;
    const pointer = await accessors(view, role).get(accessor);
    const record = pointer && (await records(view, role).get(pointer.digest));
    return record && !isExpired(record, this.#clock.millis()) ? { digest: pointer.digest, record } : undefined;
  }

  /** Resolves with whether the secret id was free. */
  async add(tx: Transaction, role: string, secretId: string, record: SecretId): Promise<boolean> {
    const digest = this.#digests.ofSecretId(role, secretId);
    const before = await records(tx, role).get(digest);
    if (before) {
      if (!isExpired(before, this.#clock.millis())) return false;
      await this.remove(tx, role, { digest, record: before });
    }
    await records(tx, role).put(digest, record);
    await accessors(tx, role).put(record.accessor, { digest });
    if (record.expires !== 0) await expiries(tx).put(expiryId(role, digest, record), {});
    return true;
  }

  /** Takes one use; false if there is none. The last use deletes the secret id. */
  async use(tx: Transaction, role: string, digest: string): Promise<boolean> {
    const now = this.#clock.millis();
    const record = await records(tx, role).get(digest);
    if (!record || isExpired(record, now)) return false;
    if (record.uses_left === 1) await this.remove(tx, role, { digest, record });
    else if (record.uses_left > 1) await records(tx, role).put(digest, { ...record, uses_left: record.uses_left - 1, updated: now });
    return true;
  }

  async remove(tx: Transaction, role: string, { digest, record }: FoundSecretId): Promise<void> {
    await records(tx, role).delete(digest);
    await accessors(tx, role).delete(record.accessor);
    if (record.expires !== 0) await expiries(tx).delete(expiryId(role, digest, record));
  }

  /** A page of accessors. Those that have expired are listed until they are removed. */
  async accessorsOf(view: View, role: string, page: Page): ReturnType<typeof keysOf> {
    return keysOf(accessors(view, role), page);
  }

  /** Removes what has expired, in chunks. Resolves with how many secret ids that were. */
  async removeExpired(storage: StorageView, signal: AbortSignal): Promise<number> {
    let removed = 0;
    for (;;) {
      signal.throwIfAborted();
      const now = this.#clock.millis();
      const due = (await expiries(storage).list({ limit: CHUNK })).filter((id) => parseExpiry(id).at <= now);
      if (due.length === 0) return removed;
      await storage.transaction(async (tx) => {
        for (const id of due) {
          const { role, digest } = parseExpiry(id);
          const record = await records(tx, role).get(digest);
          if (record && isExpired(record, now)) await this.remove(tx, role, { digest, record });
          // Of a secret id that is gone, or was made again with another end.
          else await expiries(tx).delete(id);
        }
      });
      removed += due.length;
    }
  }

  /** Removes a chunk of the secret ids of a role that is gone. Resolves with whether any may be left. */
  async removeSomeOf(storage: StorageView, role: string): Promise<boolean> {
    const chunk = await records(storage, role).entries({ limit: CHUNK });
    if (chunk.length === 0) return false;
    await storage.transaction(async (tx) => {
      for (const [digest, record] of chunk) await this.remove(tx, role, { digest, record });
    });
    return chunk.length === CHUNK;
  }
}

function records(view: View, role: string): Collection<SecretId> {
  return view.collection(`secret-id/${role}/`, SecretId);
}

function accessors(view: View, role: string): Collection<{ digest: string }> {
  return view.collection(`accessor/${role}/`, Accessor);
}

function expiries(view: View): Collection<Record<never, never>> {
  return view.collection('expiry/', Expiry);
}

function expiryId(role: string, digest: string, { expires }: SecretId): string {
  return `${String(expires).padStart(TIME_DIGITS, '0')}/${role}/${digest}`;
}

function parseExpiry(id: string): { readonly at: number; readonly role: string; readonly digest: string } {
  const [at = '', role = '', digest = ''] = id.split('/');
  return { at: Number(at), role, digest };
}

/** Accessors are UUIDs; other texts cannot all be keys. */
function isStorable(accessor: string): boolean {
  return /^[0-9a-f-]{36}$/.test(accessor);
}
