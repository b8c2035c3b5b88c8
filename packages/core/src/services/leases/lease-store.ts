import {
  BadRequest,
  checkRecord,
  EngineError,
  requestOf,
  retryDelay,
  UpstreamFailed,
  type AnySecretType,
  type Clock,
  type IssuedSecret,
  type Lease,
  type LeaseTerms,
  type Log,
  type OpenIntent,
  type StorageView,
  type Transaction,
} from '@strongroom/engine-sdk';
import { StorageFailure } from '@strongroom/storage-sdk';
import { BarrierSealed } from '../../kernel/barrier/barrier.ts';
import { CorruptRecord } from '../../kernel/barrier/key-ring.ts';
import type { Incarnations } from '../../kernel/incarnation/incarnations.ts';
import { cappedWarning, limitTerms, type MountLimits } from '../../kernel/mounts/lease-terms.ts';
import { requireIssuing } from '../../kernel/mounts/mount-record.ts';
import { orderedBase62 } from '../../kernel/random/ordered-base62.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { failureText } from '../../kernel/work/failure-text.ts';
import { DueRecords } from '../../kernel/work/due-records.ts';
import { DueWork, type Claimable, type Failure, type Outcome, type Task, type Work } from '../../kernel/work/due-work.ts';
import { targetKey, type OutsideSystems } from '../../kernel/work/outside-systems.ts';
import type { DueEntry } from '../../kernel/work/schedule-index.ts';
import type { EventKind } from '../events/core-event.ts';
import type { Events } from '../events/events.ts';
import type { Journal } from '../journal/journal.ts';
import { leftByLease, type LeftOutside } from '../outside/left-outside.ts';
import { IRREVOCABLE, leaseMarks, ofTokenPrefix, waitingPrefix } from './lease-index.ts';
import { isLive, leaseRecords, type LeaseRecord } from './lease-record.ts';
import { forgetRepeat, holdRepeat, type RepeatedAnswer, type RepeatOrder } from './repeats.ts';

/** After this many failed revocations, a lease is irrevocable: listed, and tried once a day. */
const PATIENCE = 6;
const DAY = 86_400_000;
/** Leases that are read from an index at a time. */
const PAGE = 100;

/** What leases need to know of the mount that issued them. */
export interface LeaseMount extends MountLimits {
  readonly path: string;
  readonly storage: StorageView & { within(tx: StoreTransaction): Transaction };
  secretType(type: string): AnySecretType | undefined;
}

export interface RegisteredLease {
  readonly id: string;
  readonly ttl: number;
  readonly renewable: boolean;
  readonly warnings: readonly string[];
}

/** Why a lease is revoked: its time has come, somebody asked, or it is to go whatever the engine says. */
type Why = 'due' | 'asked' | 'force';

const asked = (request: string | undefined): { readonly request?: string } => (request === undefined ? {} : { request });

/** Which leases may be claimed that were renewed or claimed by others since they were looked at. */
const CLAIMABLE: Record<Why, Claimable<LeaseRecord>> = {
  due: (current, found) => (current.due === found.due ? 'yes' : 'gone'),
  asked: (current, found) => (current.due !== found.due && current.revoking ? 'taken' : 'yes'),
  force: () => 'yes',
};

export class LeaseStore implements Work<LeaseRecord, void> {
  readonly work: DueWork<LeaseRecord, void>;
  readonly absent = { reason: 'the mount that issued the lease is not available' };
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #outside: OutsideSystems;
  readonly #journal: Journal;
  readonly #incarnations: Incarnations;
  readonly #records: DueRecords<LeaseRecord>;
  readonly #mount: (uuid: string) => LeaseMount | undefined;
  readonly #events: Events;

  constructor(options: {
    store: Store;
    clock: Clock;
    log: Log;
    outside: OutsideSystems;
    journal: Journal;
    incarnations: Incarnations;
    events: Events;
    mount: (uuid: string) => LeaseMount | undefined;
    random?: () => number;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#outside = options.outside;
    this.#journal = options.journal;
    this.#incarnations = options.incarnations;
    this.#events = options.events;
    this.#mount = options.mount;
    this.#records = new DueRecords({ ...options, kind: 'lease', records: leaseRecords, marks: leaseMarks, final: true });
    this.work = new DueWork<LeaseRecord, void>({ ...options, records: this.#records, work: this });
  }

  /**
   * Stores the lease of a new secret and settles the intent that it fulfils, in one commit, and only while the token it is issued to
   * lives (`guard` throws otherwise) and the mount is not being removed. Undefined where another call with the same idempotency key was faster.
   * The intent of what is not issued is abandoned, and so undone at once.
   */
  async register(secret: {
    readonly path: string;
    readonly mount: { readonly uuid: string } & MountLimits;
    readonly issued: IssuedSecret;
    readonly token: string;
    /** Milliseconds; 0 for a token without end. A batch token's leases end with it. */
    readonly latest: number;
    /** The idempotency key it was asked with, and the answer to repeat. */
    readonly repeat?: RepeatOrder & RepeatedAnswer;
    /** The id of the request that asked for it. */
    readonly request?: string;
    guard(tx: StoreTransaction): Promise<void>;
  }): Promise<RegisteredLease | undefined> {
    const { issued, mount } = secret;
    const now = this.#clock.millis();
    const limited = limitTerms(mount, issued.terms);
    const expires = secret.latest > 0 ? Math.min(now + limited.ttl * 1_000, secret.latest) : now + limited.ttl * 1_000;
    const renewable = issued.type.renew !== undefined && issued.terms.renewable !== false;
    const id = `${secret.path}/${orderedBase62(24, now)}`;
    const record: LeaseRecord = {
      mount: mount.uuid,
      type: issued.type.type,
      internal: checkRecord(issued.type.internal, issued.internal, `the internal data of a ${issued.type.type}`) as Record<string, unknown>,
      path: secret.path,
      issued: now,
      expires,
      ...(secret.latest > 0 ? { latest: secret.latest } : {}),
      renewable,
      token: secret.token,
      due: expires,
      attempts: 0,
      ...(secret.repeat ? { repeat: secret.repeat.digest } : {}),
    };
    const store = this.#store.transaction(async (tx) => {
      await secret.guard(tx);
      await requireIssuing(tx, mount.uuid);
      if (secret.repeat) {
        const { data } = secret.repeat;
        const all = merged(secret.repeat.warnings, limited.warnings);
        const lives = async (other: string): Promise<boolean> => isLive(await this.#records.get(other, tx), now);
        if (!(await holdRepeat(tx, secret.repeat, { lease: id, data, warnings: all }, lives))) {
          if (issued.fulfils) await this.#journal.abandon(tx, issued.fulfils);
          return false;
        }
      }
      this.#records.put(tx, id, undefined, record);
      if (issued.fulfils) await this.#journal.settle(tx, issued.fulfils);
      return true;
    });
    const registered = await store.catch(async (error: unknown) => {
      if (issued.fulfils && error instanceof EngineError) await this.#notIssued(issued.fulfils);
      throw error;
    });
    if (!registered) return undefined;
    this.#tell('lease.issued', id, record, asked(secret.request));
    return { id, ttl: Math.ceil((expires - now) / 1_000), renewable, warnings: limited.warnings };
  }

  /** Undefined where there is none, and for the lease of a token: see `isOfToken`. */
  find(id: string): Promise<LeaseRecord | undefined> {
    return this.#records.get(id);
  }

  /** Whether it is the id of a token's lease. */
  isOfToken(id: string): Promise<boolean> {
    return this.#store.isMark(leaseRecords.key(id));
  }

  /** Extends a lease as far as its engine and its limits allow. @throws BadRequest */
  async renew(id: string, increment: number, signal: AbortSignal): Promise<RegisteredLease> {
    const record = await this.find(id);
    if (!record) {
      const ofToken = await this.isOfToken(id);
      throw new BadRequest(ofToken ? 'tokens cannot be renewed through this endpoint' : 'lease not found');
    }
    if (!record.renewable) throw new BadRequest('lease is not renewable');
    const now = this.#clock.millis();
    if (record.expires <= now) throw new BadRequest('lease expired');
    if (record.revoking) throw new BadRequest('the lease is being revoked and cannot be renewed');
    const { mount, type } = this.#owner(record);
    if (!type.renew) throw new BadRequest('lease is not renewable');
    this.#incarnations.requireBeating();
    let warnings: string[] = [];
    const end = (terms: LeaseTerms): number => {
      const limited = limitTerms(mount, { ttl: increment > 0 ? increment : terms.ttl, maxTtl: terms.maxTtl });
      const last = Math.min(record.issued + limited.maxTtl * 1_000, record.latest ?? Infinity);
      if (last <= now) throw new BadRequest('past the max TTL, cannot renew');
      const wanted = now + (increment > 0 ? increment : limited.ttl) * 1_000;
      warnings = wanted > last ? [cappedWarning((wanted - now) / 1_000, Math.floor((last - now) / 1_000))] : [];
      return Math.min(wanted, last);
    };
    const terms = await type.renew(this.#lease(id, record, mount, increment, signal, (asked) => new Date(end(asked))));
    const expires = end(terms);
    await this.#store.transaction(async (tx) => {
      const current = await this.#records.get(id, tx);
      if (!current || current.revoking) throw new BadRequest('lease not found');
      this.#records.put(tx, id, current, { ...current, expires, due: expires, last_renewal: now });
    });
    this.#tell('lease.renewed', id, record, asked(requestOf(signal)));
    return { id, ttl: Math.round((expires - now) / 1_000), renewable: true, warnings };
  }

  /**
   * Takes the credential back now. What is not there counts as revoked. On failure the lease stays, its error is kept, and it
   * is tried again. Resolves with whether there was a lease. @throws UpstreamFailed with the engine's reason.
   */
  async revoke(id: string, options: { signal: AbortSignal }): Promise<boolean> {
    const record = await this.find(id);
    if (!record) return false;
    await this.#revoke(id, record, options.signal, 'asked');
    return true;
  }

  /** Takes the credential back if that can be done now, and drops the lease in any case. Resolves with what is left outside then. */
  async drop(id: string, options: { signal: AbortSignal }): Promise<LeftOutside | undefined> {
    const record = await this.#findToDrop(id);
    if (record === undefined) return undefined;
    if (record === 'damaged') return this.dropUntried(id);
    await this.work.settled(id);
    return this.#revoke(id, record, options.signal, 'force');
  }

  /** Drops the lease without trying to take its credential back. Resolves with what is left outside. */
  async dropUntried(id: string): Promise<LeftOutside | undefined> {
    const record = await this.#findToDrop(id);
    if (record !== 'damaged') return record && this.#drop(id);
    this.#log.warn('a lease was dropped without revoking its credential', { lease: id });
    await this.#store.transaction(async (tx) => this.#records.removeDamaged(tx, id));
    return leftByDamaged(id);
  }

  /** What would be left outside if the lease were dropped now. */
  async leftBy(id: string): Promise<LeftOutside | undefined> {
    const record = await this.#findToDrop(id);
    if (record === undefined) return undefined;
    if (record === 'damaged') return leftByDamaged(id);
    return leftByLease(id, record, this.#mount(record.mount)?.secretType(record.type));
  }

  /** The outside system that the lease's revocation asks; undefined where there is no lease to revoke. */
  async targetOf(id: string): Promise<string | undefined> {
    const record = await this.find(id);
    return record && (this.work.targetOf(id, record) ?? targetKey(record.mount, undefined));
  }

  /** An operator wants the outside system asked now, whatever its circuit breaker says. */
  closeCircuit(target: string): void {
    this.#outside.breakers.close(target);
  }

  /** Puts the end of a lease to now; the schedule does the rest. */
  async revokeSoon(id: string): Promise<void> {
    await this.#records.change(id, dueNow);
  }

  /**
   * Tries a failing revocation again now, with all its patience and whatever its circuit breaker says. @throws BadRequest for a lease that is not being
   * revoked.
   */
  async requeue(id: string): Promise<void> {
    const record = await this.find(id);
    if (!record) throw new BadRequest('invalid lease');
    if (!record.revoking) throw new BadRequest('the lease is not being revoked');
    await this.#tryAgain(id, record);
  }

  /** The same for all irrevocable leases below a path; '' for all there are. Resolves with their number. */
  async requeueBelow(prefix: string): Promise<number> {
    let count = 0;
    for (;;) {
      // Each one leaves the index as it is queued.
      const keys = await this.#store.keys({ prefix: IRREVOCABLE + prefix, limit: 500 });
      if (keys.length === 0) return count;
      for (const key of keys) {
        const id = key.slice(IRREVOCABLE.length);
        const record = await this.find(id).catch(() => undefined);
        if (record?.irrevocable) {
          await this.#tryAgain(id, record);
          count += 1;
        } else await this.#store.transaction(async (tx) => tx.delete(key));
      }
    }
  }

  /** Processes the end of a lease. The failure is on the record, with the time of the next try. */
  async run(due: DueEntry, signal: AbortSignal): Promise<void> {
    this.#report(due.id, await this.work.run(due, signal));
  }

  /** Ids of the leases of a token. */
  async ofToken(digest: string, limit = 1_000): Promise<string[]> {
    const prefix = ofTokenPrefix(digest);
    return (await this.#store.keys({ prefix, limit })).map((key) => key.slice(prefix.length));
  }

  /** The token ends and the lease could not be taken back yet: it continues in the background. */
  async detach(digest: string, id: string): Promise<void> {
    await this.#store.transaction(async (tx) => tx.delete(ofTokenPrefix(digest) + id));
  }

  /** Ids below a path, in order, with whether they are leases of tokens. */
  async ids(prefix: string, query: { after?: string; limit: number }): Promise<{ id: string; token: boolean }[]> {
    const found = await this.#store.marks({
      prefix: leaseRecords.key(prefix),
      ...(query.after === undefined ? {} : { after: leaseRecords.key(query.after) }),
      limit: query.limit,
    });
    return found.map(({ key, mark }) => ({ id: key.slice(leaseRecords.prefix.length), token: mark }));
  }

  /** One level of ids, as clients list them. */
  async folder(folder: string, query: { after?: string; limit?: number }): Promise<string[]> {
    return this.#store.folder(leaseRecords.key(folder), query);
  }

  async irrevocable(limit: number): Promise<{ id: string; record: LeaseRecord }[]> {
    const found: { id: string; record: LeaseRecord }[] = [];
    const keys = await this.#store.keys({ prefix: IRREVOCABLE, ...(Number.isFinite(limit) ? { limit } : {}) });
    for (const key of keys) {
      const id = key.slice(IRREVOCABLE.length);
      const record = await this.find(id).catch(() => undefined);
      if (record) found.push({ id, record });
    }
    return found;
  }

  /** What the engine calls the outside system that holds the secret of a lease; undefined for none. */
  systemOf({ mount, type, internal }: LeaseRecord): string | undefined {
    try {
      const name = this.#mount(mount)?.secretType(type)?.target?.(structuredClone(internal));
      return name === '' ? undefined : name;
    } catch {
      return undefined;
    }
  }

  async #tryAgain(id: string, record: LeaseRecord): Promise<void> {
    const target = this.work.targetOf(id, record);
    if (target !== undefined) this.closeCircuit(target);
    await this.revokeSoon(id);
  }

  async #findToDrop(id: string): Promise<LeaseRecord | 'damaged' | undefined> {
    try {
      return await this.find(id);
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error;
      return 'damaged';
    }
  }

  task(id: string, { mount: uuid, type: name, internal }: LeaseRecord): Task<LeaseRecord, void> | undefined {
    const mount = this.#mount(uuid);
    const type = mount?.secretType(name);
    if (!mount || !type) return undefined;
    return {
      mount: uuid,
      target: () => type.target?.(internal),
      run: async (record, signal) => type.revoke(this.#lease(id, record, mount, 0, signal, () => new Date(record.expires))),
    };
  }

  begun(record: LeaseRecord): LeaseRecord {
    return { ...record, revoking: true };
  }

  /** Its credential is gone, and so is the lease, whoever moved it meanwhile. */
  async done(
    tx: StoreTransaction,
    id: string,
    record: LeaseRecord,
    { request }: { readonly request?: string | undefined } = {},
  ): Promise<undefined> {
    const mount = this.#mount(record.mount);
    const type = mount?.secretType(record.type);
    if (mount && type?.revoked) await type.revoked(checkRecord(type.internal, record.internal, `lease ${id}`), mount.storage.within(tx));
    return this.#gone(tx, id, record, request);
  }

  async #gone(tx: StoreTransaction, id: string, record: LeaseRecord, request?: string): Promise<undefined> {
    tx.afterwards(() => this.#tell('lease.revoked', id, record, asked(request)));
    if (record.repeat !== undefined) await forgetRepeat(tx, record.repeat, id);
  }

  failed(record: LeaseRecord, { message, attempts }: Failure): LeaseRecord {
    const failed = { ...this.delayed(record), revoke_error: message.slice(0, 240) };
    return attempts >= PATIENCE ? { ...failed, irrevocable: true } : failed;
  }

  attempted(id: string, outcome: Outcome<LeaseRecord, void>): void {
    if (outcome.state !== 'failed') return;
    const count = outcome.record.attempts + 1;
    this.#tell(count >= PATIENCE ? 'lease.irrevocable' : 'lease.failing', id, outcome.record, { count, ...asked(outcome.request) });
  }

  delayed(record: LeaseRecord): LeaseRecord {
    return { ...record, revoking: true, waiting: true };
  }

  retryIn(attempts: number, random: () => number): number {
    return attempts >= PATIENCE ? DAY : retryDelay(attempts, random, { most: 600_000 });
  }

  async *waiting(mount: string): AsyncGenerator<string[]> {
    for (const prefix of [waitingPrefix(mount), IRREVOCABLE]) {
      let after: string | undefined;
      do {
        const page = await this.#store.keys({ prefix, limit: PAGE, ...(after === undefined ? {} : { after }) });
        yield page.map((key) => key.slice(prefix.length));
        after = page.length < PAGE ? undefined : page.at(-1);
      } while (after !== undefined);
    }
  }

  again(record: LeaseRecord, now: number): LeaseRecord | undefined {
    return record.revoking ? dueNow(record, now) : undefined;
  }

  /** Resolves with what is left outside, where the lease was dropped by force. @throws UpstreamFailed */
  async #revoke(id: string, record: LeaseRecord, signal: AbortSignal, why: Why): Promise<LeftOutside | undefined> {
    const outcome = await this.work.attempt(id, record, signal, CLAIMABLE[why]);
    if (outcome.state === 'done') return undefined;
    if (why === 'force') return this.#drop(id);
    if (outcome.state === 'gone') return undefined;
    this.#report(id, outcome);
    if (outcome.state === 'taken')
      throw new UpstreamFailed('failed to revoke entry: another process is already revoking it; try again shortly');
    if (outcome.state === 'delayed') {
      const last = record.revoke_error === undefined ? '' : `; the last error was: ${record.revoke_error}`;
      throw new UpstreamFailed(
        `failed to revoke entry: the system behind ${record.type} is not responding; the revocation will be retried${last}`,
      );
    }
    throw new UpstreamFailed(`failed to revoke entry: ${outcome.reason}`, outcome.state === 'absent' ? {} : { cause: outcome.error });
  }

  #tell(
    kind: EventKind,
    id: string,
    { mount, path, token }: LeaseRecord,
    more: { readonly count?: number; readonly request?: string } = {},
  ): void {
    this.#events.publish({ kind, mount, lease: { id, token }, name: path, ...more });
  }

  #report(id: string, outcome: Outcome<LeaseRecord, void>): void {
    if (outcome.state !== 'failed' && outcome.state !== 'absent') return;
    this.#log.warn('a lease could not be revoked yet', { lease: id, error: outcome.reason });
  }

  /** Where this fails the journal finds the intent by its age. */
  async #notIssued(intent: OpenIntent): Promise<void> {
    await this.#store
      .transaction(async (tx) => this.#journal.abandon(tx, intent))
      .catch((error: unknown) => this.#log.warn('a credential that was not issued is revoked later', { error: failureText(error) }));
  }

  /** The lease goes though its credential may be left outside. Resolves with what is. */
  async #drop(id: string): Promise<LeftOutside | undefined> {
    const dropped = await this.#store.transaction(async (tx) => {
      const record = await this.#records.get(id, tx);
      if (!record) return undefined;
      await this.#dropped(tx, record, this.#mount(record.mount));
      await this.#gone(tx, id, record);
      this.#records.remove(tx, id, record);
      return record;
    });
    if (!dropped) return undefined;
    this.#log.warn('a lease was dropped without revoking its credential', { lease: id });
    return leftByLease(id, dropped, this.#mount(dropped.mount)?.secretType(dropped.type));
  }

  /** Its credential may be left outside: the engine takes note in the same commit, as far as it runs. */
  async #dropped(tx: StoreTransaction, record: LeaseRecord, mount: LeaseMount | undefined): Promise<void> {
    const type = mount?.secretType(record.type);
    if (!mount || !type?.dropped) return;
    try {
      await type.dropped(record.internal, mount.storage.within(tx));
    } catch (error) {
      // What an engine throws does not keep an operator from letting go; what the store throws does.
      if (error instanceof StorageFailure || error instanceof BarrierSealed) throw error;
      this.#log.warn('an engine failed to process a dropped lease', { error: failureText(error) });
    }
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
  ): Lease<Record<string, unknown>> {
    const type = mount.secretType(record.type);
    return {
      id,
      internal: type ? checkRecord(type.internal, record.internal, `lease ${id}`) : record.internal,
      issuedAt: new Date(record.issued),
      expiresAt: new Date(record.expires),
      increment,
      endsWith,
      storage: mount.storage,
      signal,
    };
  }
}

export function merged(a: readonly string[] | null, b: readonly string[]): readonly string[] | null {
  return b.length === 0 ? a : [...(a ?? []), ...b];
}

/** To be revoked now, with all its patience. */
function dueNow(record: LeaseRecord, now: number): LeaseRecord {
  const { irrevocable: _again, ...rest } = record;
  return { ...rest, revoking: true, due: now, attempts: 0 };
}

function leftByDamaged(id: string): LeftOutside {
  return { kind: 'secret of a damaged lease', name: id, lease: id };
}
