import {
  BadRequest,
  checkRecord,
  InternalError,
  NotFound,
  UpstreamFailed,
  withDeadline,
  type AnyIntent,
  type Clock,
  type Intent,
  type Log,
  type OpenIntent,
  type StorageView,
} from '@strongroom/engine-sdk';
import type { TObject } from 'typebox';
import { CorruptRecord } from '../../kernel/barrier/key-ring.ts';
import type { Incarnations, OrphanedWork } from '../../kernel/incarnation/incarnations.ts';
import { requireIssuing } from '../../kernel/mounts/mount-record.ts';
import { leftByIntent, type LeftOutside } from '../outside/left-outside.ts';
import { failureText, retryDelay } from '../../kernel/work/backoff.ts';
import { dueKey, realign, reschedule, type DueEntry } from '../../kernel/work/schedule-index.ts';
import { NOT_TRIED, targetKey, type TargetGate } from '../../kernel/work/target-gate.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { randomBytes } from '../../kernel/random-bytes.ts';

const INTENTS = 'intent/';
const DEADLINE = 60_000;
/** Intents of ended processes that are made due in one commit. */
const TAKEN_OVER = 64;

interface IntentRecord {
  mount: string;
  kind: string;
  entry: Record<string, unknown>;
  opened: number;
  /** Milliseconds: where the index entry stands. */
  due: number;
  attempts: number;
  /** The incarnation that opened it, or that undoes it; absent in records from before there was this field. */
  process?: string;
  /**
   * It was undone early, because its process had ended: a process that was only frozen may still complete the change, so it is undone once more at
   * this time. Milliseconds.
   */
  again?: number;
  /** Rollback has begun: the change that was under way can no longer be completed. */
  undoing?: boolean;
  lastError?: { message: string; at: number };
}

export interface JournalMount {
  readonly path: string;
  readonly storage: StorageView;
  intent(kind: string): AnyIntent | undefined;
}

export interface IntentStatus {
  readonly id: string;
  readonly mount: string;
  readonly kind: string;
  readonly opened: Date;
  readonly attempts: number;
  readonly nextAttempt: Date;
  readonly lastError?: { readonly message: string; readonly at: Date };
  /** What may stand outside as long as it is open. */
  readonly leaves?: LeftOutside;
}

/**
 * Outside changes in progress: `intent/<id>`, indexed by the time of their rollback. The commit that stores the result of a
 * change settles its intent; what is never settled is undone.
 */
export class Journal implements OrphanedWork {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #gate: TargetGate;
  readonly #mount: (uuid: string) => JournalMount | undefined;
  readonly #random: () => number;
  readonly #incarnations: Incarnations;

  constructor(options: {
    store: Store;
    clock: Clock;
    log: Log;
    gate: TargetGate;
    mount: (uuid: string) => JournalMount | undefined;
    incarnations: Incarnations;
    random?: () => number;
  }) {
    this.#store = options.store;
    this.#incarnations = options.incarnations;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#gate = options.gate;
    this.#mount = options.mount;
    this.#random = options.random ?? Math.random;
  }

  /** @throws Unavailable where this process may begin nothing outside, and when the mount is being removed, unless the change only takes back. */
  async open(tx: StoreTransaction, mount: string, intent: Intent<TObject>, entry: Record<string, unknown>): Promise<OpenIntent> {
    this.#incarnations.requireBeating();
    const process = this.#incarnations.id;
    await this.#incarnations.require(tx, process);
    await requireIssuing(tx, mount, intent.takesBack === true);
    checkRecord(intent.entry, entry, `the entry of intent ${intent.kind}`);
    const now = this.#clock.millis();
    const id = `${now.toString(36).padStart(9, '0')}-${randomBytes(9).toString('hex')}`;
    const due = now + intent.minAgeSeconds * 1_000;
    const record: IntentRecord = {
      mount,
      kind: intent.kind,
      entry: structuredClone(entry),
      opened: now,
      due,
      attempts: 0,
      process,
    };
    tx.create(INTENTS + id, record);
    reschedule(tx, 'intent', id, undefined, due);
    return { id, kind: intent.kind };
  }

  /** @throws InternalError when rollback has begun: the result must not be stored then. */
  async settle(tx: StoreTransaction, intent: OpenIntent): Promise<void> {
    const record = await tx.get<IntentRecord>(INTENTS + intent.id);
    if (!record || record.undoing) throw new InternalError(`the change took too long and is being undone (${intent.kind})`);
    if (record.process !== undefined) await this.#incarnations.require(tx, record.process);
    tx.delete(INTENTS + intent.id);
    reschedule(tx, 'intent', intent.id, record.due, undefined);
  }

  async abandon(tx: StoreTransaction, intent: OpenIntent): Promise<void> {
    const record = await tx.get<IntentRecord>(INTENTS + intent.id);
    if (!record || record.undoing) return;
    const now = this.#clock.millis();
    tx.put(INTENTS + intent.id, { ...record, due: now, undoing: true });
    reschedule(tx, 'intent', intent.id, record.due, now);
  }

  async list(): Promise<IntentStatus[]> {
    const entries = await this.#store.entries<IntentRecord>({ prefix: INTENTS, limit: 10_000 }, (error) => this.#log.error(error.message));
    return entries.map(([key, record]) => this.#status(key.slice(INTENTS.length), record));
  }

  async find(id: string): Promise<IntentStatus | undefined> {
    const record = await this.#store.get<IntentRecord>(INTENTS + id);
    return record && this.#status(id, record);
  }

  /**
   * Tries to undo or finish a change now, whatever its circuit says. @throws NotFound, BadRequest while the change may still be under way,
   * UpstreamFailed with the reason; it stays then, and is tried again.
   */
  async retry(id: string, signal: AbortSignal): Promise<void> {
    const record = await this.#settled(id);
    const intent = this.#mount(record.mount)?.intent(record.kind);
    if (intent) this.#gate.breakers.forgive(this.#target(intent, record));
    const due = { key: dueKey(record.due, 'intent', id), at: record.due, kind: 'intent' as const, id };
    const failure = await this.#undo(due, record, signal);
    if (failure !== undefined) throw new UpstreamFailed(`the change (${record.kind}) could not be undone: ${failure}`);
  }

  /**
   * Drops the entry of a change that cannot be undone. Resolves with what may be left outside. @throws NotFound, BadRequest while the change may
   * still be under way
   */
  async forget(id: string): Promise<LeftOutside | undefined> {
    let record: IntentRecord;
    try {
      record = await this.#settled(id);
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error;
      this.#log.warn('a damaged entry of the journal was forgotten', { id });
      await this.#store.transaction(async (tx) => tx.delete(INTENTS + id));
      return { kind: 'damaged entry of the journal', name: id, intent: id };
    }
    await this.#drop(id);
    this.#log.warn('an unfinished outside change was forgotten', { mount: record.mount, kind: record.kind, id });
    return leftByIntent(id, record, this.#mount(record.mount)?.intent(record.kind));
  }

  /** What a mount's open changes may leave outside. */
  async leftBy(mount: string): Promise<LeftOutside[]> {
    const found: LeftOutside[] = [];
    for await (const [id, record] of this.#ofMount(mount)) {
      const thing = leftByIntent(id, record, this.#mount(mount)?.intent(record.kind));
      if (thing) found.push(thing);
    }
    return found;
  }

  /** Drops all entries of a mount that goes without them. */
  async forgetMount(mount: string): Promise<void> {
    for await (const [id] of this.#ofMount(mount)) await this.#drop(id);
  }

  /** Works off a due intent: marks it as being undone, rolls back, removes it. */
  async run(due: DueEntry, signal: AbortSignal): Promise<void> {
    const key = INTENTS + due.id;
    const found = await this.#store.get<IntentRecord>(key);
    if (found?.due !== due.at) {
      await this.#store.transaction(async (tx) => realign(tx, due, (await tx.get<IntentRecord>(key))?.due));
      return;
    }
    await this.#undo(due, found, signal);
  }

  /** What processes that have ended left unfinished is undone now, instead of after its age. */
  async handOn(ended: ReadonlySet<string>): Promise<number> {
    const left: string[] = [];
    for await (const page of this.#store.pages<IntentRecord>(INTENTS, (error) => this.#log.error(error.message))) {
      for (const [key, record] of page) if (record.process !== undefined && ended.has(record.process)) left.push(key);
    }
    for (let at = 0; at < left.length; at += TAKEN_OVER) {
      await this.#store.transaction(async (tx) => {
        for (const key of left.slice(at, at + TAKEN_OVER)) {
          const record = await tx.get<IntentRecord>(key);
          if (record?.process === undefined || !ended.has(record.process)) continue;
          const { process: _ended, ...rest } = record;
          const now = this.#clock.millis();
          // Where it is not being undone already, `due` is the end of its age.
          const again = isYoung(record) && record.due > now ? { again: record.due } : {};
          tx.put(key, { ...rest, ...again, undoing: true, due: now } satisfies IntentRecord);
          reschedule(tx, 'intent', key.slice(INTENTS.length), record.due, now);
        }
      });
    }
    return left.length;
  }

  /** Makes undoings that failed at an outside system, or were put off, due now. */
  async retryTarget(mount: string, target: string): Promise<void> {
    const now = this.#clock.millis();
    for await (const page of this.#store.pages<IntentRecord>(INTENTS, (error) => this.#log.error(error.message))) {
      for (const [key, found] of page) {
        const intent = found.mount === mount && this.#mount(mount)?.intent(found.kind);
        if (!intent || found.due <= now || this.#target(intent, found) !== targetKey(mount, target)) continue;
        // What is younger than its age may still be under way.
        if (!found.undoing && found.opened + intent.minAgeSeconds * 1_000 > now) continue;
        const id = key.slice(INTENTS.length);
        await this.#move({ key: dueKey(found.due, 'intent', id), at: found.due, kind: 'intent', id }, (record) => ({
          ...record,
          due: now,
        }));
      }
    }
  }

  /**
   * Undoes every open intent of a mount that is being removed; no request of this process may be at work on them any more. Resolves with the reasons
   * why some could not be undone; they stay, and are tried again. `asked`: an operator wants it now, whatever circuits say.
   */
  async undoMount(mount: string, signal: AbortSignal, asked = false): Promise<string[]> {
    const reasons: string[] = [];
    const forgiven = new Set<string>();
    for await (const [id, record] of this.#ofMount(mount)) {
      if (signal.aborted) break;
      if (this.#mayBeUnderWay(record)) {
        const until = new Date(record.again ?? record.due).toISOString();
        reasons.push(`an unfinished change (${record.kind}) may still be under way in another process; it is undone at ${until}`);
        continue;
      }
      const intent = this.#mount(mount)?.intent(record.kind);
      const target = intent && this.#target(intent, record);
      if (asked && target !== undefined && !forgiven.has(target)) {
        forgiven.add(target);
        this.#gate.breakers.forgive(target);
      }
      const due = { key: dueKey(record.due, 'intent', id), at: record.due, kind: 'intent' as const, id };
      const failure = await this.#undo(due, record, signal);
      if (failure !== undefined) reasons.push(`an unfinished change (${record.kind}) could not be undone: ${failure}`);
    }
    return reasons;
  }

  async *#ofMount(mount: string): AsyncGenerator<[id: string, record: IntentRecord]> {
    for await (const page of this.#store.pages<IntentRecord>(INTENTS, (error) => this.#log.error(error.message))) {
      for (const [key, record] of page) if (record.mount === mount) yield [key.slice(INTENTS.length), record];
    }
  }

  /** Another process opened it, too lately to tell whether that one is still at work. */
  #mayBeUnderWay(record: IntentRecord): boolean {
    const now = this.#clock.millis();
    if (record.again !== undefined) return record.again > now;
    return this.#store.shared && record.process !== this.#incarnations.id && isYoung(record) && record.due > now;
  }

  /** The intent, when no request can be at work on its change any more. */
  async #settled(id: string): Promise<IntentRecord> {
    const record = await this.#store.get<IntentRecord>(INTENTS + id);
    if (!record) throw new NotFound(`the journal has no entry ${JSON.stringify(id)}`);
    if (isYoung(record) && record.due > this.#clock.millis()) {
      throw new BadRequest(
        `the change may still be under way; unless it is completed, it is undone at ${new Date(record.due).toISOString()}`,
      );
    }
    return record;
  }

  async #drop(id: string): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const record = await tx.get<IntentRecord>(INTENTS + id);
      if (!record) return;
      tx.delete(INTENTS + id);
      reschedule(tx, 'intent', id, record.due, undefined);
    });
  }

  #status(id: string, record: IntentRecord): IntentStatus {
    const leaves = leftByIntent(id, record, this.#mount(record.mount)?.intent(record.kind));
    return {
      id,
      mount: record.mount,
      kind: record.kind,
      opened: new Date(record.opened),
      attempts: record.attempts,
      nextAttempt: new Date(record.due),
      ...(record.lastError === undefined ? {} : { lastError: { message: record.lastError.message, at: new Date(record.lastError.at) } }),
      ...(leaves === undefined ? {} : { leaves }),
    };
  }

  /** Resolves with the reason when it could not be undone. */
  async #undo(due: DueEntry, found: IntentRecord, signal: AbortSignal): Promise<string | undefined> {
    const mount = this.#mount(found.mount);
    const intent = mount?.intent(found.kind);
    if (!mount || !intent) {
      const message = 'the engine that began it does not run';
      await this.#move(due, (record, now) => ({
        ...record,
        attempts: record.attempts + 1,
        due: now + 60_000,
        lastError: { message, at: now },
      }));
      return message;
    }
    let claimedUntil: number | undefined;
    const passed = await this.#gate.pass(this.#target(intent, found), async (admit) => {
      claimedUntil = await this.#move(due, (record, now) => ({
        ...record,
        process: this.#incarnations.id,
        undoing: true,
        due: now + DEADLINE + 15_000,
      }));
      if (claimedUntil === undefined) return NOT_TRIED;
      const entry = checkRecord(intent.entry, found.entry, INTENTS + due.id) as Record<string, unknown>;
      await withDeadline({ clock: this.#clock, millis: DEADLINE, parent: signal }, async (limit) => {
        admit(limit);
        await intent.rollback(entry, mount.storage, limit);
      });
      return undefined;
    });
    if (claimedUntil === undefined) {
      if ('failed' in passed) throw passed.failed;
      if (!('putOff' in passed) || passed.putOff === 0) return undefined;
      const { putOff } = passed;
      await this.#move(due, (record, now) => ({ ...record, due: now + putOff }));
      return 'the outside system is being left alone because it keeps failing';
    }
    const claimed = { ...due, at: claimedUntil };
    if ('failed' in passed) {
      const reason = failureText(passed.failed);
      // A server that stops says nothing about the outside system.
      const stopped = signal.aborted;
      if (!stopped) this.#log.warn('an outside change could not be undone yet', { mount: mount.path, kind: found.kind, error: reason });
      await this.#move(claimed, (record, now) =>
        stopped
          ? { ...record, due: now }
          : {
              ...record,
              attempts: record.attempts + 1,
              due: now + retryDelay(record.attempts + 1, this.#random),
              lastError: { message: reason, at: now },
            },
      );
      return reason;
    }
    this.#log.info('an unfinished outside change was undone', { mount: mount.path, kind: found.kind });
    await this.#move(claimed, ({ again, process: _done, ...record }, now) =>
      again !== undefined && again > now ? { ...record, again, due: again, attempts: 0 } : undefined,
    );
    return undefined;
  }

  #target(intent: AnyIntent, record: IntentRecord): string {
    try {
      return targetKey(record.mount, intent.target?.(record.entry as never));
    } catch {
      return targetKey(record.mount, undefined);
    }
  }

  /** Rewrites the record if it still stands at that time; resolves with the new time. */
  async #move(due: DueEntry, change: (record: IntentRecord, now: number) => IntentRecord | undefined): Promise<number | undefined> {
    const key = INTENTS + due.id;
    return this.#store.transaction(async (tx) => {
      const record = await tx.get<IntentRecord>(key);
      if (record?.due !== due.at) return undefined;
      const next = change(record, this.#clock.millis());
      if (next) tx.put(key, next);
      else tx.delete(key);
      reschedule(tx, 'intent', due.id, due.at, next?.due);
      return next?.due;
    });
  }
}

/** Its rollback has neither begun nor been asked for. */
function isYoung(record: IntentRecord): boolean {
  return record.undoing !== true && record.attempts === 0;
}
