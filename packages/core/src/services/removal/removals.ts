import { randomBytes } from 'node:crypto';
import {
  BadRequest,
  EngineError,
  retryDelay,
  UpstreamFailed,
  waitAtMost,
  withDeadline,
  type Clock,
  type Log,
} from '@strongroom/engine-sdk';
import { Conflict, StorageFailure } from '@strongroom/storage-sdk';
import type { AccountRegistry } from '../accounts/account-registry.ts';
import { BarrierSealed } from '../../kernel/barrier/barrier.ts';
import type { Journal } from '../journal/journal.ts';
import type { BulkRevoker } from '../revocation/bulk-revoker.ts';
import { mountRecords } from '../../kernel/mounts/mount-record.ts';
import type { MountTable } from '../mounts/mount-table.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import { failureText } from '../../kernel/work/failure-text.ts';
import { DueRecords, released } from '../../kernel/work/due-records.ts';
import type { DueEntry } from '../../kernel/work/schedule-index.ts';
import type { RecordReader } from '../../kernel/storage/records.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { cut, type LeftOutside } from '../outside/left-outside.ts';
import { RemovedMounts, type RemovedMount } from './removed-mounts.ts';
import { removalRecords, type RemovalRecord } from './removal-record.ts';

/** Milliseconds. How long whoever removes a mount waits for the answer: less than clients do. */
const ANSWER = 45_000;
/** Longer than any request. */
const LAST_REQUEST = 95_000;
/** What a forced removal still gives the requests under way, and the outside systems. */
const LAST_BEFORE_FORCE = 5_000;
const LAST_TRY = 20_000;
const RETIRE = 60_000;
const LISTING = 30_000;
/** A claim holds so long when the process that made it dies, and is renewed so often while it lives. */
const CLAIM = 60_000;
const BEAT = 20_000;
/** Reasons that are kept of one attempt. */
const REASONS = 20;

/** What came of a removal. */
export type Removed =
  | { readonly state: 'removed'; readonly left: readonly LeftOutside[]; readonly unlisted?: string }
  /** Refused for now, as by an outside system; it continues in the background. */
  | { readonly state: 'refused'; readonly reason: EngineError }
  /** Not done in time, or done by another process: it continues in the background. */
  | { readonly state: 'going on' }
  /** There is nothing to remove, or somebody cancelled it. */
  | { readonly state: 'nothing' };

/** Another process, a cancellation or a forced removal has taken over. */
class Superseded extends Error {}

interface Work {
  readonly abort: (reason: Error) => void;
  readonly outcome: Promise<Removed>;
}

/**
 * Removes mounts: takes back what they issued, lists what stays outside, then deletes them. What cannot be taken back holds the removal up, with the
 * reasons shown, and is tried again until it succeeds, or an operator cancels or forces it.
 */
export class Removals {
  readonly #store: Store;
  readonly #records: DueRecords<RemovalRecord>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #mounts: MountTable;
  readonly #bulk: BulkRevoker;
  readonly #journal: Journal;
  readonly #accounts: AccountRegistry;
  readonly #removed: RemovedMounts;
  readonly #forget: (mount: Pick<RemovalRecord, 'uuid' | 'class' | 'type' | 'accessor'>) => Promise<void>;
  readonly #random: () => number;
  /** Attempts of this process under way, by uuid: who comes later waits for the same outcome. */
  readonly #underWay = new Map<string, Work>();

  constructor(parts: {
    store: Store;
    clock: Clock;
    log: Log;
    mounts: MountTable;
    bulk: BulkRevoker;
    journal: Journal;
    accounts: AccountRegistry;
    /** Deletes what other rooms know of the mount. */
    forget: (mount: Pick<RemovalRecord, 'uuid' | 'class' | 'type' | 'accessor'>) => Promise<void>;
    random?: () => number;
  }) {
    this.#store = parts.store;
    this.#records = new DueRecords({ ...parts, kind: 'removal', records: removalRecords });
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#mounts = parts.mounts;
    this.#bulk = parts.bulk;
    this.#journal = parts.journal;
    this.#accounts = parts.accounts;
    this.#removed = new RemovedMounts(parts);
    this.#forget = parts.forget;
    this.#random = parts.random ?? Math.random;
  }

  /** After unseal: goes on with removals that began before there were such records, and with those that a process left when it died alone on this store. */
  async resume(): Promise<void> {
    const now = this.#clock.millis();
    for (const { uuid, claim } of await this.underWay()) {
      if (claim === undefined || this.#store.shared) continue;
      await this.#records.change(uuid, (record) => ({ ...released(record), due: now }));
    }
    for (const mount of this.#mounts.all()) {
      if (!mount.removing || (await this.statusOf(mount.uuid))) continue;
      await this.#store.transaction(async (tx) => {
        if (!(await this.#records.get(mount.uuid, tx))) this.#open(tx, mount, now);
      });
    }
  }

  /** The server is being sealed: the attempts under way end. */
  stop(reason: Error): void {
    for (const work of this.#underWay.values()) work.abort(reason);
  }

  /** Begins a removal, or tries again at once. Resolves in time for the caller to hear of it. */
  async remove(path: string): Promise<Removed> {
    const mount = await this.#begin(path);
    return mount ? this.#inTime(this.#attempt(mount.uuid, true)) : { state: 'nothing' };
  }

  /** @throws BadRequest where the mount is not being removed. */
  async retry(path: string): Promise<Removed> {
    const mount = this.#mounts.at(path);
    if (!mount?.removing) throw notRemoving(path);
    return this.#inTime(this.#attempt(mount.uuid, true));
  }

  /**
   * The mount issues again. What was taken back stays so, and leases whose revocation has begun end all the same. @throws BadRequest where the mount is
   * not being removed, or is past saving
   */
  async cancel(path: string): Promise<void> {
    const found = this.#mounts.at(path);
    if (!found?.removing) throw notRemoving(path);
    await this.#mounts.setRemoving(path, false, async (tx, mount) => {
      const record = await this.#records.get(mount.uuid, tx);
      if (!record) return;
      if (record.phase !== 'revoking') throw new BadRequest(`the removal of ${path} is forced and cannot be cancelled any more`);
      this.#records.remove(tx, mount.uuid, record);
    });
    this.#underWay.get(found.uuid)?.abort(new Superseded('the removal was cancelled'));
    this.#log.info('the removal of a mount was cancelled', { mount: path });
  }

  /**
   * Removes the mount now, whatever its engine and the outside systems say: tries once more to take back what can be, then lets go of the rest.
   * Resolves with what is left outside, which is also kept for `finished`.
   */
  async force(path: string): Promise<Removed> {
    const mount = await this.#begin(path);
    if (!mount) return { state: 'nothing' };
    const before = this.#underWay.get(mount.uuid);
    before?.abort(new Superseded('the removal is forced'));
    return this.#inTime(this.#work(mount.uuid, 'force', async (claim, signal) => this.#letGo(mount, claim, signal)));
  }

  /** Processes a removal that is due. */
  async run(due: DueEntry, signal: AbortSignal): Promise<void> {
    const record = await this.#records.get(due.id);
    if (record?.due !== due.at) {
      await this.#records.realign(due);
      return;
    }
    const leave = (): void => this.#underWay.get(due.id)?.abort(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    try {
      await this.#attempt(due.id);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  async statusOf(uuid: string): Promise<RemovalRecord | undefined> {
    return this.#records.get(uuid);
  }

  async underWay(): Promise<RemovalRecord[]> {
    const entries = await this.#records.list({}, (error) => this.#log.error(error.message));
    return entries.map(([, record]) => record);
  }

  /** The mounts that left something outside, the last one first. */
  async finished(): Promise<RemovedMount[]> {
    return this.#removed.list();
  }

  async #begin(path: string): Promise<Mount | undefined> {
    const found = this.#mounts.at(path);
    if (found?.removing && (await this.statusOf(found.uuid))) return found;
    return this.#mounts.setRemoving(path, true, async (tx, mount) => {
      // Whoever begins it goes on with it at once; the schedule does if that one dies.
      if (!(await this.#records.get(mount.uuid, tx))) this.#open(tx, mount, this.#clock.millis() + BEAT);
    });
  }

  #open(tx: StoreTransaction, { path, class: kind, type, uuid, accessor }: Mount, due: number): void {
    const since = this.#clock.millis();
    const record: RemovalRecord = { path, class: kind, type, uuid, accessor, phase: 'revoking', since, due, attempts: 0, reasons: [] };
    this.#put(tx, undefined, record);
  }

  #put(tx: StoreTransaction, before: RemovalRecord | undefined, record: RemovalRecord): void {
    this.#records.put(tx, record.uuid, before, record);
  }

  /** `asked`: an operator wants it now, whatever circuit breakers say. */
  async #attempt(uuid: string, asked = false): Promise<Removed> {
    return (
      this.#underWay.get(uuid)?.outcome ??
      this.#work(uuid, 'try', async (claim, signal) => {
        const record = await this.#held(uuid, claim);
        if (record.phase === 'wiping') return this.#wipe(record, claim, []);
        const mount = await this.#mountOf(record);
        if (record.phase === 'letting-go') return this.#dropAll(mount, claim, undefined);
        return this.#takeBack(mount, claim, signal, asked);
      })
    );
  }

  /** Runs work on a removal under a claim that is renewed until it ends. Never rejects for what a mount or an outside system does. */
  async #work(uuid: string, how: 'try' | 'force', work: (claim: string, signal: AbortSignal) => Promise<Removed>): Promise<Removed> {
    const controller = new AbortController();
    const abort = (reason: Error): void => controller.abort(reason);
    const outcome = (async (): Promise<Removed> => {
      const claim = await this.#claim(uuid, how);
      if (claim === 'gone') return { state: 'nothing' };
      if (claim === 'taken') return { state: 'going on' };
      const stopBeating = this.#beat(uuid, claim, abort);
      try {
        return await work(claim, controller.signal);
      } catch (error) {
        if (error instanceof Superseded || controller.signal.reason instanceof Superseded) return await this.#supersededBy(uuid);
        if (controller.signal.aborted || isOfStore(error)) {
          // The server stops or cannot store: that says nothing about the mount, and whoever is next goes on at once.
          await this.#release(uuid, claim).catch(() => undefined);
          throw error;
        }
        return await this.#failed(uuid, claim, { reasons: [failureText(error)], reason: asRefusal(error) });
      } finally {
        stopBeating();
      }
    })();
    this.#underWay.set(uuid, { abort, outcome });
    try {
      return await outcome;
    } finally {
      if (this.#underWay.get(uuid)?.outcome === outcome) this.#underWay.delete(uuid);
    }
  }

  async #supersededBy(uuid: string): Promise<Removed> {
    if (await this.statusOf(uuid)) return { state: 'going on' };
    const mount = this.#mounts.byUuid(uuid);
    return mount ? { state: 'refused', reason: new BadRequest(`the removal of ${mount.path} was cancelled`) } : { state: 'nothing' };
  }

  async #release(uuid: string, claim: string): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const held = await this.#held(uuid, claim, tx);
      this.#put(tx, held, { ...released(held), due: this.#clock.millis() });
    });
  }

  /** What can be taken back is; where all is, the mount goes. */
  async #takeBack(mount: Mount, claim: string, signal: AbortSignal, asked: boolean): Promise<Removed> {
    await withDeadline({ clock: this.#clock, millis: LAST_REQUEST * 2, parent: signal }, async () =>
      mount.endedGone(this.#clock, LAST_REQUEST),
    );
    // What kept the engine from starting may be repaired by now.
    if (mount.quarantine !== undefined && mount.package) await this.#mounts.restart(mount);
    const leases = await this.#bulk.tryAll(mount.path.slice(0, -1), signal, asked);
    signal.throwIfAborted();
    const changes = await this.#journal.undoMount(mount.uuid, signal, asked);
    signal.throwIfAborted();
    if (leases.count > 0 || changes.length > 0) {
      const [lease] = leases.reasons;
      const reason = lease === undefined ? new UpstreamFailed(changes[0] ?? `${leases.count} leases are left`) : new BadRequest(lease);
      return this.#failed(mount.uuid, claim, { reasons: [...leases.reasons, ...changes], reason, leases: leases.count });
    }
    const { engine } = mount;
    if (engine?.retire) {
      try {
        await withDeadline({ clock: this.#clock, millis: RETIRE, parent: signal }, async (limit) => engine.retire?.(limit));
      } catch (error) {
        signal.throwIfAborted();
        return this.#failed(mount.uuid, claim, { reasons: [failureText(error)], reason: asRefusal(error) });
      }
      const begun = await this.#journal.undoMount(mount.uuid, signal);
      signal.throwIfAborted();
      if (begun.length > 0) return this.#failed(mount.uuid, claim, { reasons: begun, reason: new UpstreamFailed(begun[0]!) });
    }
    const outside = await this.#outside(mount, signal);
    signal.throwIfAborted();
    return this.#drop(mount, claim, { left: outside.left, ...(outside.unlisted === undefined ? {} : { unlisted: outside.unlisted }) });
  }

  /** One last try, the list of what is left, and the decision, which a crash does not undo. */
  async #letGo(mount: Mount, claim: string, signal: AbortSignal): Promise<Removed> {
    await mount.endedGone(this.#clock, LAST_BEFORE_FORCE);
    await withDeadline({ clock: this.#clock, millis: LAST_TRY, parent: signal }, async (limit) => {
      await this.#bulk.tryAll(mount.path.slice(0, -1), limit, true);
      await this.#journal.undoMount(mount.uuid, limit, true);
    }).catch((error: unknown) =>
      this.#log.warn('not everything could be revoked before a forced removal', { mount: mount.path, error: String(error) }),
    );
    signal.throwIfAborted();
    const outside = await this.#outside(mount, signal, true);
    const left = [...(await this.#bulk.leftBy(mount.path.slice(0, -1))), ...(await this.#journal.leftBy(mount.uuid)), ...outside.left];
    const { unlisted } = outside;
    await this.#store.transaction(async (tx) => {
      const record = await this.#held(mount.uuid, claim, tx);
      if (record.phase !== 'revoking') return;
      this.#put(tx, record, { ...record, phase: 'letting-go', reasons: [] });
      await this.#noted(tx, mount, true, left, unlisted);
    });
    return this.#dropAll(mount, claim, { left, ...(unlisted === undefined ? {} : { unlisted }) });
  }

  async #dropAll(mount: Mount, claim: string, outside: { left: readonly LeftOutside[]; unlisted?: string } | undefined): Promise<Removed> {
    await this.#bulk.dropUntried(mount.path.slice(0, -1));
    await this.#journal.forgetMount(mount.uuid);
    return this.#drop(mount, claim, { left: outside?.left ?? [], ...outside, forced: true });
  }

  /** The mount goes; from here on there is no way back. */
  async #drop(
    mount: Mount,
    claim: string,
    { left, unlisted, forced = false }: { left: readonly LeftOutside[]; unlisted?: string; forced?: boolean },
  ): Promise<Removed> {
    let record!: RemovalRecord;
    const beside = async (tx: StoreTransaction): Promise<void> => {
      const held = await this.#held(mount.uuid, claim, tx);
      record = { ...held, phase: 'wiping' };
      this.#put(tx, held, record);
      if (!forced && (left.length > 0 || unlisted !== undefined)) await this.#noted(tx, mount, false, left, unlisted);
    };
    await this.#mounts.drop(mount, beside, { forced });
    for (const thing of left) this.#log.warn('a mount was removed and left something outside', { mount: mount.path, ...thing });
    this.#log.info('a mount was removed', { mount: mount.path, type: mount.type, left: left.length, forced });
    await this.#wipe(record, claim, left);
    return { state: 'removed', left, ...(unlisted === undefined ? {} : { unlisted }) };
  }

  async #wipe(record: RemovalRecord, claim: string, left: readonly LeftOutside[]): Promise<Removed> {
    await this.#forget(record);
    await this.#mounts.wipe(record.uuid);
    await this.#store.transaction(async (tx) => {
      const held = await this.#held(record.uuid, claim, tx);
      this.#records.remove(tx, record.uuid, held);
    });
    return { state: 'removed', left };
  }

  async #noted(
    tx: StoreTransaction,
    mount: Mount,
    forced: boolean,
    left: readonly LeftOutside[],
    unlisted: string | undefined,
  ): Promise<void> {
    const { path, type, accessor } = mount;
    const at = this.#clock.millis();
    await this.#removed.note(tx, { path, type, accessor, at, forced, left, ...(unlisted === undefined ? {} : { unlisted }) });
  }

  /** What the engine has outside that is no lease, as far as this is known. */
  async #outside(mount: Mount, signal: AbortSignal, anyway = false): Promise<{ left: LeftOutside[]; unlisted?: string }> {
    const { engine } = mount;
    let unlisted: string | undefined;
    if (!engine)
      unlisted = `the engine of ${mount.path} does not run (${mount.quarantine ?? 'it is not there'}), so it cannot say what it leaves outside`;
    else if (engine.outside) {
      try {
        const things = await withDeadline({ clock: this.#clock, millis: LISTING, parent: signal }, async () => engine.outside!());
        return { left: things.map(cut) };
      } catch (error) {
        if (!anyway) throw error;
        unlisted = `the engine of ${mount.path} failed to say what it leaves outside: ${failureText(error)}`;
      }
    }
    const accounts = await this.#accounts.ofMount(mount.uuid);
    const left = accounts.map(({ system, name }) => ({ kind: 'managed account', name, system }));
    return unlisted === undefined ? { left } : { left, unlisted };
  }

  /** Keeps the reasons, and lets the schedule try again. */
  async #failed(
    uuid: string,
    claim: string,
    failure: { reasons: readonly string[]; reason: EngineError; leases?: number },
  ): Promise<Removed> {
    await this.#store.transaction(async (tx) => {
      const held = await this.#held(uuid, claim, tx);
      const { leases: _, ...rest } = released(held);
      const now = this.#clock.millis();
      this.#put(tx, held, {
        ...rest,
        attempts: held.attempts + 1,
        last_attempt: now,
        due: now + retryDelay(held.attempts + 1, this.#random),
        reasons: failure.reasons.slice(0, REASONS).map((reason) => reason.slice(0, 500)),
        ...(failure.leases ? { leases: failure.leases } : {}),
      });
    });
    this.#log.warn('a mount cannot be removed yet', {
      mount: this.#mounts.byUuid(uuid)?.path ?? uuid,
      reasons: failure.reasons.slice(0, REASONS),
    });
    return { state: 'refused', reason: failure.reason };
  }

  /** The record, while this claim holds. @throws Superseded */
  async #held(uuid: string, claim: string, reader: RecordReader = this.#store): Promise<RemovalRecord> {
    const record = await this.#records.get(uuid, reader);
    if (record?.claim !== claim) throw new Superseded('somebody else has taken over the removal');
    return record;
  }

  async #claim(uuid: string, how: 'try' | 'force'): Promise<string | 'gone' | 'taken'> {
    const claim = randomBytes(9).toString('base64url');
    return this.#store.transaction(async (tx) => {
      const record = await this.#records.get(uuid, tx);
      if (!record) return 'gone';
      const now = this.#clock.millis();
      if (how === 'try' && record.claim !== undefined && record.due > now) return 'taken';
      this.#put(tx, record, { ...record, claim, due: now + CLAIM });
      return claim;
    });
  }

  /** Renews the claim now and then; ends the work where somebody else has taken over. */
  #beat(uuid: string, claim: string, abort: (reason: Error) => void): () => void {
    let cancel: () => void;
    let stopped = false;
    const next = (): void => {
      cancel = this.#clock.after(BEAT, () => {
        this.#store
          .transaction(async (tx) => {
            const held = await this.#held(uuid, claim, tx);
            this.#put(tx, held, { ...held, due: this.#clock.millis() + CLAIM });
          })
          .catch((error: unknown) => {
            // What the store says is for the work itself to find out.
            if (error instanceof Superseded && !stopped) abort(error);
          })
          .finally(() => {
            if (!stopped) next();
          });
      });
    };
    next();
    return () => {
      stopped = true;
      cancel();
    };
  }

  /** The mount of a removal that is not past the table. @throws Superseded where another process was faster */
  async #mountOf(record: RemovalRecord): Promise<Mount> {
    const mount = this.#mounts.byUuid(record.uuid);
    if (mount) return mount;
    await this.#mounts.reload();
    const found = this.#mounts.byUuid(record.uuid);
    if (found) return found;
    await this.#store.transaction(async (tx) => {
      const held = await this.#records.get(record.uuid, tx);
      if (!held || held.phase === 'wiping' || (await mountRecords.get(tx, record.uuid))) return;
      this.#records.remove(tx, record.uuid, held);
    });
    throw new Superseded('the mount is not there any more');
  }

  /** The outcome, or word that it goes on where that takes too long. */
  async #inTime(outcome: Promise<Removed>): Promise<Removed> {
    return (await waitAtMost(this.#clock, ANSWER, outcome)) ?? { state: 'going on' };
  }
}

function notRemoving(path: string): BadRequest {
  return new BadRequest(`the mount ${JSON.stringify(path)} is not being removed`);
}

function isOfStore(error: unknown): boolean {
  return error instanceof StorageFailure || error instanceof Conflict || error instanceof BarrierSealed;
}

/** As the caller reads what an engine or an outside system said. */
function asRefusal(error: unknown): EngineError {
  return error instanceof EngineError ? error : new UpstreamFailed(failureText(error), { cause: error });
}
