import {
  BadRequest,
  checkRecord,
  EngineError,
  UpstreamFailed,
  withDeadline,
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
import type { Incarnations, OrphanedWork } from '../../kernel/incarnation/incarnations.ts';
import type { Journal } from '../journal/journal.ts';
import { failureText, retryDelay } from '../../kernel/work/backoff.ts';
import { dueBetween, realign, reschedule, type DueEntry } from '../../kernel/work/schedule-index.ts';
import { targetKey, type TargetGate } from '../../kernel/work/target-gate.ts';
import { BarrierSealed } from '../../kernel/barrier/barrier.ts';
import { CorruptRecord } from '../../kernel/barrier/key-ring.ts';
import { requireIssuing } from '../../kernel/mounts/mount-record.ts';
import { leftByLease, type LeftOutside } from '../outside/left-outside.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { randomBase62 } from '../../kernel/random-base62.ts';
import { forgetRepeat, holdRepeat, isLive, type RepeatOrder, type RepeatRecord } from './repeats.ts';
import { cappedWarning, limitTerms, type MountLimits } from '../../kernel/mounts/lease-terms.ts';
import type { LeaseRecord } from './lease-record.ts';

export const LEASES = 'lease/';
const BY_TOKEN = 'token-lease/';
/** Index of the leases that operators must look after. */
const IRREVOCABLE = 'irrevocable/';
/** Index, by mount, of the leases whose revocation failed or was put off. */
const WAITING = 'waiting-lease/';
const DEADLINE = 60_000;
/** How long a claim holds when the process that made it ends. */
const CLAIM = DEADLINE + 15_000;
/** After so many failed revocations a lease is irrevocable: listed, and tried once a day. */
const PATIENCE = 6;
const DAY = 86_400_000;
/** Leases that are made due in one commit. */
const RETRIED_AT_A_TIME = 100;

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

export class LeaseStore implements OrphanedWork {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #gate: TargetGate;
  readonly #journal: Journal;
  readonly #incarnations: Incarnations;
  readonly #mount: (uuid: string) => LeaseMount | undefined;
  readonly #random: () => number;
  /** Revocations under way in this process: whoever comes later waits for the same outcome. */
  readonly #revoking = new Map<string, Promise<LeftOutside | undefined>>();

  constructor(options: {
    store: Store;
    clock: Clock;
    log: Log;
    gate: TargetGate;
    journal: Journal;
    incarnations: Incarnations;
    mount: (uuid: string) => LeaseMount | undefined;
    random?: () => number;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#gate = options.gate;
    this.#journal = options.journal;
    this.#incarnations = options.incarnations;
    this.#mount = options.mount;
    this.#random = options.random ?? Math.random;
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
    readonly repeat?: RepeatOrder & Pick<RepeatRecord, 'data' | 'warnings'>;
    guard(tx: StoreTransaction): Promise<void>;
  }): Promise<RegisteredLease | undefined> {
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
        const lives = async (other: string): Promise<boolean> => isLive(await tx.get<LeaseRecord | ''>(LEASES + other), now);
        if (!(await holdRepeat(tx, secret.repeat, { lease: id, data, warnings: all }, lives))) {
          if (issued.fulfils) await this.#journal.abandon(tx, issued.fulfils);
          return false;
        }
      }
      tx.put(LEASES + id, record);
      reschedule(tx, 'lease', id, undefined, record.due);
      if (secret.token !== '') tx.mark(byTokenKey(secret.token, id));
      if (issued.fulfils) await this.#journal.settle(tx, issued.fulfils);
      return true;
    });
    const registered = await store.catch(async (error: unknown) => {
      if (issued.fulfils && error instanceof EngineError) await this.#notIssued(issued.fulfils);
      throw error;
    });
    if (!registered) return undefined;
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
      const current = await tx.get<LeaseRecord>(LEASES + id);
      if (!current || current.revoking) throw new BadRequest('lease not found');
      const next: LeaseRecord = { ...current, expires, due: expires, last_renewal: now };
      tx.put(LEASES + id, next);
      reschedule(tx, 'lease', id, current.due, next.due);
    });
    return { id, ttl: Math.round((expires - now) / 1_000), renewable: true, warnings };
  }

  /**
   * Takes the credential back now. What is not there counts as revoked. On failure the lease stays, its error is kept, and it
   * is tried again. Resolves with whether there was a lease. @throws UpstreamFailed with the engine's reason.
   */
  async revoke(id: string, options: { signal: AbortSignal }): Promise<boolean> {
    const record = await this.find(id);
    if (record === undefined || record === 'token') return false;
    await this.#revokeOnce(id, record, options.signal, 'asked');
    return true;
  }

  /** Takes the credential back if that can be done now, and drops the lease in any case. Resolves with what is left outside then. */
  async drop(id: string, options: { signal: AbortSignal }): Promise<LeftOutside | undefined> {
    const record = await this.#findToDrop(id);
    if (record === undefined || record === 'token') return undefined;
    if (record === 'damaged') return this.dropUntried(id);
    return this.#revokeOnce(id, record, options.signal, 'force');
  }

  /** Drops the lease without trying to take its credential back. Resolves with what is left outside. */
  async dropUntried(id: string): Promise<LeftOutside | undefined> {
    const left = await this.leftBy(id);
    const record = await this.#findToDrop(id);
    if (record === undefined || record === 'token') return undefined;
    this.#log.warn('a lease was dropped without taking its credential back', { lease: id });
    if (record === 'damaged') await this.#store.transaction(async (tx) => tx.delete(LEASES + id));
    else await this.#remove(id, record, { dropped: true });
    return left;
  }

  /** What would be left outside if the lease were dropped now. */
  async leftBy(id: string): Promise<LeftOutside | undefined> {
    const record = await this.#findToDrop(id);
    if (record === undefined || record === 'token') return undefined;
    if (record === 'damaged') return { kind: 'secret of a damaged lease', name: id, lease: id };
    return leftByLease(id, record, this.#mount(record.mount)?.secretType(record.type));
  }

  /** The outside system that the lease's revocation asks; undefined where there is no lease to revoke. */
  async targetOf(id: string): Promise<string | undefined> {
    const record = await this.find(id);
    if (record === undefined || record === 'token') return undefined;
    const type = this.#mount(record.mount)?.secretType(record.type);
    return type ? this.#target(type, record) : targetKey(record.mount, undefined);
  }

  /** An operator wants the outside system asked now, also while it is left alone. */
  forgive(target: string): void {
    this.#gate.breakers.forgive(target);
  }

  /** Puts the end of a lease to now; the schedule does the rest. */
  async revokeSoon(id: string): Promise<void> {
    const now = this.#clock.millis();
    await this.#store.transaction(async (tx) => {
      const record = await tx.get<LeaseRecord | ''>(LEASES + id);
      if (!record) return;
      dueNow(tx, id, record, now);
    });
  }

  /** What processes that have ended were revoking is due again now. */
  async handOn(ended: ReadonlySet<string>): Promise<number> {
    let count = 0;
    const now = this.#clock.millis();
    for await (const page of dueBetween(this.#store, 'lease', now, now + CLAIM)) {
      for (let at = 0; at < page.length; at += RETRIED_AT_A_TIME) {
        count += await this.#store.transaction(async (tx) => {
          let taken = 0;
          for (const { id } of page.slice(at, at + RETRIED_AT_A_TIME)) {
            const record = await tx.get<LeaseRecord | ''>(LEASES + id).catch(damagedIsLeft);
            if (!record || record.process === undefined || !ended.has(record.process)) continue;
            const { process: _ended, ...rest } = record;
            tx.put(LEASES + id, { ...rest, due: now } satisfies LeaseRecord);
            reschedule(tx, 'lease', id, record.due, now);
            taken += 1;
          }
          return taken;
        });
      }
    }
    return count;
  }

  /** Makes revocations that failed at an outside system, or were put off, due now. `target` is what the secret types of the mount call it. */
  async retryTarget(mount: string, target: string): Promise<void> {
    const key = targetKey(mount, target);
    for (const index of [`${WAITING}${mount}/`, IRREVOCABLE]) {
      let after: string | undefined;
      for (;;) {
        const page = await this.#store.keys({ prefix: index, limit: RETRIED_AT_A_TIME, ...(after === undefined ? {} : { after }) });
        await this.#store.transaction(async (tx) => {
          for (const mark of page) {
            const id = mark.slice(index.length);
            const record = await tx.get<LeaseRecord | ''>(LEASES + id).catch(damagedIsLeft);
            const type = record && record.mount === mount && this.#mount(mount)?.secretType(record.type);
            if (record && type && record.revoking && this.#target(type, record) === key) dueNow(tx, id, record, this.#clock.millis());
          }
        });
        if (page.length < RETRIED_AT_A_TIME) break;
        after = page.at(-1)!;
      }
    }
  }

  /**
   * Tries a failing revocation again now, with all its patience and whatever its circuit says. @throws BadRequest for a lease that is not being
   * revoked.
   */
  async requeue(id: string): Promise<void> {
    const record = await this.find(id);
    if (record === undefined || record === 'token') throw new BadRequest('invalid lease');
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
        if (record !== undefined && record !== 'token') {
          await this.#tryAgain(id, record);
          count += 1;
        } else await this.#store.transaction(async (tx) => tx.delete(key));
      }
    }
  }

  /** Works off the end of a lease. */
  async run(due: DueEntry, signal: AbortSignal): Promise<void> {
    const key = LEASES + due.id;
    const record = await this.#store.get<LeaseRecord | ''>(key);
    if (!record || record.due !== due.at) {
      await this.#store.transaction(async (tx) => realign(tx, due, ((await tx.get<LeaseRecord | ''>(key)) || undefined)?.due));
      return;
    }
    try {
      await this.#revokeOnce(due.id, record, signal, 'due');
    } catch (error) {
      // The failure is on the record, with the time of the next try.
      if (!(error instanceof UpstreamFailed)) throw error;
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

  /** Ids below a path, in order, with whether they are leases of tokens. */
  async ids(prefix: string, query: { after?: string; limit: number }): Promise<{ id: string; token: boolean }[]> {
    const found = await this.#store.marks({
      prefix: LEASES + prefix,
      ...(query.after === undefined ? {} : { after: LEASES + query.after }),
      limit: query.limit,
    });
    return found.map(({ key, mark }) => ({ id: key.slice(LEASES.length), token: mark }));
  }

  /** One level of ids, as clients list them. */
  async folder(folder: string, query: { after?: string; limit?: number }): Promise<string[]> {
    return this.#store.folder(LEASES + folder, query);
  }

  async irrevocable(limit: number): Promise<{ id: string; record: LeaseRecord }[]> {
    const found: { id: string; record: LeaseRecord }[] = [];
    const keys = await this.#store.keys({ prefix: IRREVOCABLE, ...(Number.isFinite(limit) ? { limit } : {}) });
    for (const key of keys) {
      const id = key.slice(IRREVOCABLE.length);
      const record = await this.find(id).catch(() => undefined);
      if (record !== undefined && record !== 'token') found.push({ id, record });
    }
    return found;
  }

  async #tryAgain(id: string, record: LeaseRecord): Promise<void> {
    const type = this.#mount(record.mount)?.secretType(record.type);
    if (type) this.#gate.breakers.forgive(this.#target(type, record));
    await this.revokeSoon(id);
  }

  async #findToDrop(id: string): Promise<LeaseRecord | 'token' | 'damaged' | undefined> {
    try {
      return await this.find(id);
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error;
      return 'damaged';
    }
  }

  async #revokeOnce(id: string, record: LeaseRecord, signal: AbortSignal, why: Why): Promise<LeftOutside | undefined> {
    const underWay = this.#revoking.get(id);
    if (underWay) {
      if (why !== 'force') return underWay;
      await underWay.catch(() => undefined);
    }
    const work = this.#revokeRecord(id, record, signal, why).finally(() => this.#revoking.delete(id));
    this.#revoking.set(id, work);
    return work;
  }

  /** Resolves with what is left outside, where the lease was dropped by force. */
  async #revokeRecord(id: string, record: LeaseRecord, signal: AbortSignal, why: Why): Promise<LeftOutside | undefined> {
    const force = why === 'force';
    const claimed = await this.#claim(id, record, why);
    if (claimed === 'gone') return undefined;
    if (claimed === 'taken') throw new UpstreamFailed('failed to revoke entry: another process is at it');
    const mount = this.#mount(record.mount);
    const type = mount?.secretType(record.type);
    const passed =
      mount && type
        ? await this.#gate.pass(this.#target(type, record), async (admit) =>
            withDeadline({ clock: this.#clock, millis: DEADLINE, parent: signal }, async (limit) => {
              admit(limit);
              await type.revoke(this.#lease(id, record, mount, 0, limit, () => new Date(record.expires)));
            }),
          )
        : { failed: new Error('the mount that issued the lease is not available') };
    if ('done' in passed) {
      await this.#remove(id, record, { dropped: false });
      return undefined;
    }
    if (force) {
      this.#log.warn('a lease was dropped without taking its credential back', { lease: id });
      await this.#remove(id, record, { dropped: true });
      return leftByLease(id, record, type);
    }
    if ('putOff' in passed) {
      await this.#later(id, claimed, (current, now) => ({ ...current, due: now + passed.putOff }));
      const last = claimed.revoke_error === undefined ? '' : `; the last error was: ${claimed.revoke_error}`;
      throw new UpstreamFailed(`failed to revoke entry: ${record.type} is not answering; it will be tried again${last}`);
    }
    const reason = failureText(passed.failed);
    if (signal.aborted) {
      // The server stops, or the caller went away: that says nothing about the outside system.
      await this.#later(id, claimed, (current, now) => ({ ...current, due: now }));
      throw new UpstreamFailed(`failed to revoke entry: ${reason}`, { cause: passed.failed });
    }
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

  /** Where this fails the journal finds the intent by its age. */
  async #notIssued(intent: OpenIntent): Promise<void> {
    await this.#store
      .transaction(async (tx) => this.#journal.abandon(tx, intent))
      .catch((error: unknown) => this.#log.warn('what was not issued is undone later', { error: failureText(error) }));
  }

  async #remove(id: string, record: LeaseRecord, { dropped }: { dropped: boolean }): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const current = await tx.get<LeaseRecord>(LEASES + id);
      if (current && dropped) await this.#dropped(tx, current, this.#mount(record.mount));
      if (record.repeat !== undefined) await forgetRepeat(tx, record.repeat, id);
      tx.delete(LEASES + id);
      if (current) reschedule(tx, 'lease', id, current.due, undefined);
      if (current?.irrevocable) tx.delete(IRREVOCABLE + id);
      if (current?.waiting) tx.delete(waitingKey(current, id));
      if (record.token !== '') tx.delete(byTokenKey(record.token, id));
    });
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
      this.#log.warn('an engine did not take note of a dropped lease', { error: failureText(error) });
    }
  }

  /** Marks the lease as being revoked and moves its end behind the deadline, so that a crash leaves it to the schedule. */
  async #claim(id: string, record: LeaseRecord, why: Why): Promise<LeaseRecord | 'gone' | 'taken'> {
    return this.#store.transaction(async (tx) => {
      const current = await tx.get<LeaseRecord>(LEASES + id);
      if (!current) return 'gone';
      if (current.due !== record.due) {
        // It was renewed, or somebody else is at it.
        if (why === 'due') return 'gone';
        if (why === 'asked' && current.revoking) return 'taken';
      }
      const next: LeaseRecord = { ...current, revoking: true, process: this.#incarnations.id, due: this.#clock.millis() + CLAIM };
      tx.put(LEASES + id, next);
      reschedule(tx, 'lease', id, current.due, next.due);
      return next;
    });
  }

  async #later(id: string, claimed: LeaseRecord, change: (record: LeaseRecord, now: number) => LeaseRecord): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const current = await tx.get<LeaseRecord>(LEASES + id);
      if (current?.due !== claimed.due) return;
      const { process: _own, ...released } = current;
      const next = { ...change(released, this.#clock.millis()), waiting: true };
      tx.put(LEASES + id, next);
      if (!current.waiting) tx.mark(waitingKey(current, id));
      if (next.irrevocable && !current.irrevocable) tx.mark(IRREVOCABLE + id);
      reschedule(tx, 'lease', id, current.due, next.due);
    });
  }

  /** Leases whose type names no outside system have a lane of their own; so have those whose record does not fit. */
  #target(type: AnySecretType, record: LeaseRecord): string {
    try {
      return targetKey(record.mount, type.target?.(record.internal as never));
    } catch {
      return targetKey(record.mount, undefined);
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

export function merged(a: readonly string[] | null, b: readonly string[]): readonly string[] | null {
  return b.length === 0 ? a : [...(a ?? []), ...b];
}

function dueNow(tx: StoreTransaction, id: string, record: LeaseRecord, now: number): void {
  const { irrevocable: _again, ...rest } = record;
  tx.put(LEASES + id, { ...rest, revoking: true, due: now, attempts: 0 } satisfies LeaseRecord);
  tx.delete(IRREVOCABLE + id);
  reschedule(tx, 'lease', id, record.due, now);
}

function damagedIsLeft(error: unknown): undefined {
  if (!(error instanceof CorruptRecord)) throw error;
  return undefined;
}

function waitingKey({ mount }: LeaseRecord, id: string): string {
  return `${WAITING}${mount}/${id}`;
}

function byTokenKey(digest: string, id: string): string {
  return `${BY_TOKEN}${digest}/${id}`;
}
