import {
  BadRequest,
  checkRecord,
  UpstreamFailed,
  type AnySecretType,
  type Clock,
  type IssuedSecret,
  type Lease,
  type LeaseTerms,
  type Log,
  type StorageView,
} from '@strongroom/engine-sdk';
import type { Journal } from '../journal/journal.ts';
import { failureText, retryDelay } from '../schedule/backoff.ts';
import { dueKey, reschedule, type DueEntry } from '../schedule/schedule-index.ts';
import { withDeadline, type TargetGate } from '../schedule/target-gate.ts';
import { CorruptRecord } from '../barrier/key-ring.ts';
import type { Store, StoreTransaction } from '../storage/store.ts';
import { randomBase62 } from '../tokens/token-id.ts';
import { cappedWarning, limitTerms, type MountLimits } from './lease-terms.ts';
import type { LeaseRecord } from './lease-record.ts';

export const LEASES = 'lease/';
const BY_TOKEN = 'token-lease/';
const DEADLINE = 60_000;
/** After so many failed revocations a lease is irrevocable: listed, and tried once a day. */
const PATIENCE = 6;
const DAY = 86_400_000;

/** What leases need to know of the mount that issued them. */
export interface LeaseMount extends MountLimits {
  readonly path: string;
  readonly storage: StorageView;
  secretType(type: string): AnySecretType | undefined;
}

export interface RegisteredLease {
  readonly id: string;
  readonly ttl: number;
  readonly renewable: boolean;
  readonly warnings: readonly string[];
}

export class LeaseStore {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #gate: TargetGate;
  readonly #journal: Journal;
  readonly #mount: (uuid: string) => LeaseMount | undefined;
  readonly #due: (at: number) => void;
  readonly #random: () => number;

  constructor(options: {
    store: Store;
    clock: Clock;
    log: Log;
    gate: TargetGate;
    journal: Journal;
    mount: (uuid: string) => LeaseMount | undefined;
    due: (at: number) => void;
    random?: () => number;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#gate = options.gate;
    this.#journal = options.journal;
    this.#mount = options.mount;
    this.#due = options.due;
    this.#random = options.random ?? Math.random;
  }

  /**
   * Stores the lease of a new secret and settles the intent that it fulfils, in one commit, and only while the token it is issued to
   * lives (`guard` throws otherwise).
   */
  async register(secret: {
    readonly path: string;
    readonly mount: { readonly uuid: string } & MountLimits;
    readonly issued: IssuedSecret;
    readonly token: string;
    /** Milliseconds; 0 for a token without end. A batch token's leases end with it. */
    readonly latest: number;
    guard(tx: StoreTransaction): Promise<void>;
  }): Promise<RegisteredLease> {
    const { issued, mount } = secret;
    const now = this.#clock.millis();
    const limited = limitTerms(mount, issued.terms);
    const expires = secret.latest > 0 ? Math.min(now + limited.ttl * 1_000, secret.latest) : now + limited.ttl * 1_000;
    const renewable = issued.type.renew !== undefined && issued.terms.renewable !== false;
    const id = `${secret.path}/${randomBase62(24)}`;
    const record: LeaseRecord = {
      mount: mount.uuid,
      type: issued.type.type,
      internal: checkRecord(issued.type.internal, issued.internal, `the internal data of a ${issued.type.type}`) as Record<string, unknown>,
      path: secret.path,
      issued: now,
      expires,
      renewable,
      token: secret.token,
      due: expires,
      attempts: 0,
    };
    await this.#store.transaction(async (tx) => {
      await secret.guard(tx);
      tx.put(LEASES + id, record);
      reschedule(tx, 'lease', id, undefined, record.due);
      if (secret.token !== '') tx.mark(byTokenKey(secret.token, id));
      if (issued.fulfils) await this.#journal.settle(tx, issued.fulfils);
    });
    this.#due(record.due);
    return { id, ttl: Math.ceil((expires - now) / 1_000), renewable, warnings: limited.warnings };
  }

  /** Undefined where there is none; `'token'` for the lease of a token. */
  async find(id: string): Promise<LeaseRecord | 'token' | undefined> {
    const record = await this.#store.get<LeaseRecord | ''>(LEASES + id);
    return record === '' ? 'token' : record;
  }

  /** Extends a lease as far as its engine and its limits allow. @throws BadRequest */
  async renew(id: string, increment: number, signal: AbortSignal): Promise<RegisteredLease> {
    const record = await this.find(id);
    if (record === undefined) throw new BadRequest('lease not found');
    if (record === 'token') throw new BadRequest('tokens cannot be renewed through this endpoint');
    if (!record.renewable) throw new BadRequest('lease is not renewable');
    const now = this.#clock.millis();
    if (record.expires <= now || record.revoking) throw new BadRequest('lease expired');
    const { mount, type } = this.#owner(record);
    if (!type.renew) throw new BadRequest('lease is not renewable');
    let warnings: string[] = [];
    const end = (terms: LeaseTerms): number => {
      const limited = limitTerms(mount, { ttl: increment > 0 ? increment : terms.ttl, maxTtl: terms.maxTtl });
      const last = record.issued + limited.maxTtl * 1_000;
      if (last <= now) throw new BadRequest('past the max TTL, cannot renew');
      const wanted = now + (increment > 0 ? increment : limited.ttl) * 1_000;
      warnings = wanted > last ? [cappedWarning((wanted - now) / 1_000, Math.floor((last - now) / 1_000))] : [];
      return Math.min(wanted, last);
    };
    const terms = await type.renew(this.#lease(id, record, mount, increment, signal, (asked) => new Date(end(asked))));
    const expires = end(terms);
    await this.#store.transaction(async (tx) => {
      const current = await tx.get<LeaseRecord>(LEASES + id);
      if (!current || current.revoking) throw new BadRequest('lease not found');
      const next: LeaseRecord = { ...current, expires, due: expires, last_renewal: now };
      tx.put(LEASES + id, next);
      reschedule(tx, 'lease', id, current.due, next.due);
    });
    this.#due(expires);
    return { id, ttl: Math.round((expires - now) / 1_000), renewable: true, warnings };
  }

  /**
   * Takes the credential back now. What is not there counts as revoked. On failure the lease stays, its error is kept, and it
   * is tried again; `force` drops it all the same. @throws UpstreamFailed with the engine's reason.
   */
  async revoke(id: string, options: { force?: boolean; signal: AbortSignal }): Promise<void> {
    const record = await this.find(id);
    if (record === undefined || record === 'token') return;
    await this.#revokeRecord(id, record, options.signal, options.force === true);
  }

  /** Puts the end of a lease to now; the schedule does the rest. */
  async revokeSoon(id: string): Promise<void> {
    const now = this.#clock.millis();
    await this.#store.transaction(async (tx) => {
      const record = await tx.get<LeaseRecord | ''>(LEASES + id);
      if (!record) return;
      tx.put(LEASES + id, { ...record, revoking: true, due: now, attempts: 0 });
      reschedule(tx, 'lease', id, record.due, now);
    });
    this.#due(now);
  }

  /** Works off the end of a lease. */
  async run(due: DueEntry, signal: AbortSignal): Promise<void> {
    const key = LEASES + due.id;
    let record: LeaseRecord | undefined;
    try {
      record = await this.#store.get<LeaseRecord>(key);
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error;
      await this.#quarantine(due, error);
      return;
    }
    if (!record || record.due !== due.at) {
      await this.#store.transaction(async (tx) => {
        const current = await tx.get<LeaseRecord>(key);
        if (current?.due !== due.at) tx.delete(due.key);
      });
      return;
    }
    try {
      await this.#revokeRecord(due.id, record, signal, false);
    } catch {
      // The failure is on the record, with the time of the next try.
    }
  }

  /** Ids of the leases of a token. */
  async ofToken(digest: string, limit = 1_000): Promise<string[]> {
    const prefix = `${BY_TOKEN}${digest}/`;
    return (await this.#store.keys({ prefix, limit })).map((key) => key.slice(prefix.length));
  }

  /** The token ends and the lease could not be taken back yet: it goes on by itself. */
  async detach(digest: string, id: string): Promise<void> {
    await this.#store.transaction(async (tx) => tx.delete(byTokenKey(digest, id)));
  }

  /** Ids below a path, in order; tokens' leases too. */
  async ids(prefix: string, query: { after?: string; limit: number }): Promise<string[]> {
    const keys = await this.#store.keys({
      prefix: LEASES + prefix,
      ...(query.after === undefined ? {} : { after: LEASES + query.after }),
      limit: query.limit,
    });
    return keys.map((key) => key.slice(LEASES.length));
  }

  /** One level of ids, as clients list them. */
  async folder(folder: string, query: { after?: string; limit?: number }): Promise<string[]> {
    return this.#store.folder(LEASES + folder, query);
  }

  async irrevocable(limit: number): Promise<{ id: string; record: LeaseRecord }[]> {
    const found: { id: string; record: LeaseRecord }[] = [];
    let after: string | undefined;
    while (found.length < limit) {
      const page = await this.#store.entries<LeaseRecord | ''>(
        { prefix: LEASES, ...(after === undefined ? {} : { after }), limit: 1_000 },
        (error) => this.#log.error(error.message),
      );
      for (const [key, record] of page) {
        if (record !== '' && record.irrevocable && found.length < limit) found.push({ id: key.slice(LEASES.length), record });
      }
      const last = page[page.length - 1];
      if (page.length < 1_000 || !last) break;
      after = last[0];
      await new Promise((resolve) => setImmediate(resolve));
    }
    return found;
  }

  async #revokeRecord(id: string, record: LeaseRecord, signal: AbortSignal, force: boolean): Promise<void> {
    const claimed = await this.#claim(id, record);
    if (!claimed) return;
    const mount = this.#mount(record.mount);
    const type = mount?.secretType(record.type);
    const passed =
      mount && type
        ? await this.#gate.pass(type.target?.(record.internal), async () =>
            withDeadline(this.#clock, DEADLINE, signal, async (limit) =>
              type.revoke(this.#lease(id, record, mount, 0, limit, () => new Date(record.expires))),
            ),
          )
        : { failed: new Error('the mount that issued the lease is not available') };
    if ('done' in passed || force) {
      if (!('done' in passed)) this.#log.warn('a lease was dropped without taking its credential back', { lease: id });
      await this.#store.transaction(async (tx) => {
        const current = await tx.get<LeaseRecord>(LEASES + id);
        tx.delete(LEASES + id);
        if (current) reschedule(tx, 'lease', id, current.due, undefined);
        if (record.token !== '') tx.delete(byTokenKey(record.token, id));
      });
      return;
    }
    if ('putOff' in passed) {
      await this.#later(id, claimed, (current, now) => ({ ...current, due: now + passed.putOff }));
      throw new UpstreamFailed(`failed to revoke entry: ${record.type} is not answering; it will be tried again`);
    }
    const reason = failureText(passed.failed);
    this.#log.warn('a lease could not be revoked yet', { lease: id, error: reason });
    await this.#later(id, claimed, (current, now) => {
      const attempts = current.attempts + 1;
      const irrevocable = attempts >= PATIENCE;
      return {
        ...current,
        attempts,
        revoke_error: reason.slice(0, 240),
        ...(irrevocable ? { irrevocable: true } : {}),
        due: now + (irrevocable ? DAY : retryDelay(attempts, this.#random, 10_000, 600_000)),
      };
    });
    throw new UpstreamFailed(`failed to revoke entry: ${reason}`, { cause: passed.failed });
  }

  /** Marks the lease as being revoked and moves its end behind the deadline, so that a crash leaves it to the schedule. */
  async #claim(id: string, record: LeaseRecord): Promise<LeaseRecord | undefined> {
    return this.#store.transaction(async (tx) => {
      const current = await tx.get<LeaseRecord>(LEASES + id);
      if (!current || (current.due !== record.due && current.revoking)) return undefined;
      const next: LeaseRecord = { ...current, revoking: true, due: this.#clock.millis() + DEADLINE + 15_000 };
      tx.put(LEASES + id, next);
      reschedule(tx, 'lease', id, current.due, next.due);
      return next;
    });
  }

  async #later(id: string, claimed: LeaseRecord, change: (record: LeaseRecord, now: number) => LeaseRecord): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const current = await tx.get<LeaseRecord>(LEASES + id);
      if (current?.due !== claimed.due) return;
      const next = change(current, this.#clock.millis());
      tx.put(LEASES + id, next);
      reschedule(tx, 'lease', id, current.due, next.due);
      this.#due(next.due);
    });
  }

  async #quarantine(due: DueEntry, error: CorruptRecord): Promise<void> {
    this.#log.error('a lease record is damaged and set aside', { lease: due.id, error: error.message });
    const later = this.#clock.millis() + DAY;
    await this.#store.transaction(async (tx) => {
      tx.delete(due.key);
      tx.mark(dueKey(later, 'lease', due.id));
    });
  }

  #owner(record: LeaseRecord): { mount: LeaseMount; type: AnySecretType } {
    const mount = this.#mount(record.mount);
    const type = mount?.secretType(record.type);
    if (!mount || !type) throw new UpstreamFailed('the mount that issued the lease is not available');
    return { mount, type };
  }

  #lease(
    id: string,
    record: LeaseRecord,
    mount: LeaseMount,
    increment: number,
    signal: AbortSignal,
    endsWith: (terms: LeaseTerms) => Date,
  ): Lease<never> {
    const type = mount.secretType(record.type);
    return {
      id,
      internal: (type ? checkRecord(type.internal, record.internal, `lease ${id}`) : record.internal) as never,
      issuedAt: new Date(record.issued),
      expiresAt: new Date(record.expires),
      increment,
      endsWith,
      storage: mount.storage,
      signal,
    };
  }
}

function byTokenKey(digest: string, id: string): string {
  return `${BY_TOKEN}${digest}/${id}`;
}
