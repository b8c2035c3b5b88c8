import {
  BadRequest,
  checkRecord,
  InternalError,
  NotFound,
  UpstreamFailed,
  type AnyIntent,
  type Clock,
  type JobTry,
  type Log,
  type OpenIntent,
  type StorageView,
} from '@strongroom/engine-sdk';
import { CorruptRecord } from '../../kernel/barrier/key-ring.ts';
import type { Incarnations } from '../../kernel/incarnation/incarnations.ts';
import { requireIssuing } from '../../kernel/mounts/mount-record.ts';
import { randomBytes } from '../../kernel/random/random-bytes.ts';
import { copyOf } from '../../kernel/storage/copy-of.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { DueRecords, dueStatus, type DueStatus } from '../../kernel/work/due-records.ts';
import { DueWork, type Outcome, type Task, type Work } from '../../kernel/work/due-work.ts';
import type { OutsideSystems } from '../../kernel/work/outside-systems.ts';
import type { DueEntry } from '../../kernel/work/schedule-index.ts';
import { leftByIntent, type LeftOutside } from '../outside/left-outside.ts';
import { intentRecords, isYoung, type IntentRecord } from './intent-record.ts';

export interface JournalMount {
  readonly path: string;
  readonly storage: StorageView;
  intent(kind: string): AnyIntent | undefined;
}

export interface IntentStatus extends DueStatus {
  readonly id: string;
  readonly mount: string;
  readonly kind: string;
  readonly opened: Date;
  /** What its engine calls the outside system; undefined for none. */
  readonly target: string | undefined;
  readonly failingSince?: Date;
  readonly tries: readonly JobTry[];
  /** What may exist outside as long as it is open. */
  readonly leaves?: LeftOutside;
}

/** Which intents are listed. */
export interface IntentQuery {
  /** Uuid; default: of all mounts. */
  readonly mount?: string | undefined;
  /** Only those whose rollback failed, found by an index. */
  readonly failing?: boolean;
  /** An id: those behind it. */
  readonly after?: string | undefined;
  /** At most 10,000. */
  readonly limit?: number | undefined;
}

/** Some intents, and the id to go on from; undefined at the end. */
interface IntentPage {
  readonly entries: readonly [id: string, record: IntentRecord][];
  readonly end: string | undefined;
}

/** The index of the intents whose rollback fails. */
const FAILING = 'failing-intent/';
/** Most intents of a list. */
const MOST = 10_000;
const PAGE = 256;

function failingMarks(id: string, record: IntentRecord): string[] {
  return record.failing_since === undefined ? [] : [FAILING + id];
}

/**
 * Outside changes in progress: `intent/<id>`, indexed by the time of their rollback. The commit that stores the result of a
 * change settles its intent; what is never settled is undone.
 */
export class Journal implements Work<IntentRecord, void> {
  readonly work: DueWork<IntentRecord, void>;
  readonly absent = { reason: 'the engine that began it does not run', retryIn: 60_000 };
  readonly keepsTries = true;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #outside: OutsideSystems;
  readonly #records: DueRecords<IntentRecord>;
  readonly #mount: (uuid: string) => JournalMount | undefined;
  readonly #incarnations: Incarnations;
  readonly #counted: (mount: string, what: 'rollbacks_ok' | 'rollbacks_failed') => void;

  constructor(options: {
    store: Store;
    clock: Clock;
    log: Log;
    outside: OutsideSystems;
    mount: (uuid: string) => JournalMount | undefined;
    incarnations: Incarnations;
    /** Counts an attempt to undo a change of a mount. */
    counted: (mount: string, what: 'rollbacks_ok' | 'rollbacks_failed') => void;
    random?: () => number;
  }) {
    this.#store = options.store;
    this.#incarnations = options.incarnations;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#outside = options.outside;
    this.#mount = options.mount;
    this.#counted = options.counted;
    this.#records = new DueRecords({ ...options, kind: 'intent', records: intentRecords, marks: failingMarks });
    this.work = new DueWork<IntentRecord, void>({ ...options, records: this.#records, work: this });
  }

  /** @throws Unavailable where this process may begin nothing outside, and when the mount is being removed, unless the change only takes back. */
  async open(tx: StoreTransaction, mount: string, intent: OpenedIntent, entry: Record<string, unknown>): Promise<OpenIntent> {
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
      entry: copyOf(entry),
      opened: now,
      due,
      attempts: 0,
      process,
    };
    this.#records.create(tx, id, record);
    return { id, kind: intent.kind };
  }

  /** @throws InternalError when rollback has begun: the result must not be stored then. */
  async settle(tx: StoreTransaction, intent: OpenIntent): Promise<void> {
    const record = await this.#records.get(intent.id, tx);
    if (!record || record.undoing) throw new InternalError(`the change took too long and is being undone (${intent.kind})`);
    if (record.process !== undefined) await this.#incarnations.require(tx, record.process);
    this.#records.remove(tx, intent.id, record);
  }

  async abandon(tx: StoreTransaction, intent: OpenIntent): Promise<void> {
    const record = await this.#records.get(intent.id, tx);
    if (!record || record.undoing) return;
    this.#records.put(tx, intent.id, record, { ...record, due: this.#clock.millis(), undoing: true });
  }

  /** The oldest first. */
  async list({ mount, failing = false, after, limit = MOST }: IntentQuery = {}): Promise<IntentStatus[]> {
    const found: IntentStatus[] = [];
    const most = Math.min(limit, MOST);
    let from = after;
    while (found.length < most) {
      const page = await (failing ? this.#failing(from) : this.#page(from));
      for (const [id, record] of page.entries) {
        if (mount === undefined || record.mount === mount) found.push(this.#status(id, record));
      }
      if (page.end === undefined) break;
      from = page.end;
    }
    return found.slice(0, most);
  }

  async #page(after: string | undefined): Promise<IntentPage> {
    const query = { limit: PAGE, ...(after ? { after } : {}) };
    const entries = await this.#records.list(query, (error) => this.#log.error(error.message));
    return { entries, end: entries.length < PAGE ? undefined : entries.at(-1)?.[0] };
  }

  async #failing(after: string | undefined): Promise<IntentPage> {
    const keys = await this.#store.keys({ prefix: FAILING, limit: PAGE, ...(after ? { after: FAILING + after } : {}) });
    const ids = keys.map((key) => key.slice(FAILING.length));
    const entries: [string, IntentRecord][] = [];
    for (const id of ids) {
      const record = await this.#records.readable(id);
      if (record?.failing_since !== undefined) entries.push([id, record]);
    }
    return { entries, end: ids.length < PAGE ? undefined : ids.at(-1) };
  }

  async find(id: string): Promise<IntentStatus | undefined> {
    const record = await this.#records.get(id);
    return record && this.#status(id, record);
  }

  /**
   * Tries to undo or finish a change now, whatever its circuit breaker says. @throws NotFound, BadRequest while the change may still be under way,
   * UpstreamFailed with the reason; it stays then, and is tried again.
   */
  async retry(id: string, signal: AbortSignal): Promise<void> {
    const record = await this.#settled(id);
    this.#closeCircuit(this.work.targetOf(id, record));
    const failure = await this.#undo(id, record, signal);
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
      this.#log.warn('a damaged journal entry was dropped', { id });
      await this.#store.transaction(async (tx) => this.#records.removeDamaged(tx, id));
      return { kind: 'damaged entry of the journal', name: id, intent: id };
    }
    await this.#drop(id);
    this.#log.warn('an unfinished change to an outside system was dropped', { mount: record.mount, kind: record.kind, id });
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

  /** Processes an intent that is due: marks it as being undone, rolls back, removes it. */
  async run(due: DueEntry, signal: AbortSignal): Promise<void> {
    this.#report(await this.work.run(due, signal));
  }

  /**
   * Undoes every open intent of a mount that is being removed; no request of this process may be at work on them any more. Resolves with the reasons
   * why some could not be undone; they stay, and are tried again. `asked`: an operator wants it now, whatever circuit breakers say.
   */
  async undoMount(mount: string, signal: AbortSignal, asked = false): Promise<string[]> {
    const reasons: string[] = [];
    const closed = new Set<string>();
    for await (const [id, record] of this.#ofMount(mount)) {
      if (signal.aborted) break;
      if (this.#mayBeUnderWay(record)) {
        const until = new Date(record.again ?? record.due).toISOString();
        reasons.push(`an unfinished change (${record.kind}) may still be under way in another process; it is undone at ${until}`);
        continue;
      }
      const target = this.work.targetOf(id, record);
      if (asked && target !== undefined && !closed.has(target)) {
        closed.add(target);
        this.#closeCircuit(target);
      }
      const failure = await this.#undo(id, record, signal);
      if (failure !== undefined) reasons.push(`an unfinished change (${record.kind}) could not be undone: ${failure}`);
    }
    return reasons;
  }

  task(key: string, { mount: uuid, kind, entry }: IntentRecord): Task<IntentRecord, void> | undefined {
    const mount = this.#mount(uuid);
    const intent = mount?.intent(kind);
    if (!mount || !intent) return undefined;
    return {
      mount: uuid,
      target: () => intent.target?.(entry),
      run: async (record, signal) =>
        intent.rollback(checkRecord(intent.entry, record.entry, intentRecords.key(key)), mount.storage, signal),
    };
  }

  begun(record: IntentRecord): IntentRecord {
    return { ...record, undoing: true };
  }

  /** One that was undone early stays until its age. */
  done(_tx: StoreTransaction, _id: string, record: IntentRecord, { now, held }: { now: number; held: boolean }): IntentRecord | undefined {
    if (!held) return record;
    return record.again !== undefined && record.again > now ? { ...recovered(record), due: record.again } : undefined;
  }

  attempted(_id: string, outcome: Outcome<IntentRecord, void>): void {
    if (outcome.state === 'done') this.#counted(outcome.record.mount, 'rollbacks_ok');
    else if (outcome.state === 'failed') this.#counted(outcome.record.mount, 'rollbacks_failed');
  }

  async *waiting(mount: string): AsyncGenerator<string[]> {
    yield* this.#idsOf((record) => record.mount === mount);
  }

  /** What is younger than its age may still be under way. */
  again(record: IntentRecord, now: number): IntentRecord | undefined {
    if (record.due <= now) return undefined;
    const age = this.#mount(record.mount)?.intent(record.kind)?.minAgeSeconds ?? Infinity;
    return record.undoing || record.opened + age * 1_000 <= now ? { ...record, due: now } : undefined;
  }

  /** All that they opened, whenever it comes due. */
  async *claimed(ended: ReadonlySet<string>): AsyncGenerator<string[]> {
    yield* this.#idsOf(({ process }) => process !== undefined && ended.has(process));
  }

  /** What processes that have ended left unfinished is undone now, and once more at the end of its age. */
  handedOn(record: IntentRecord, now: number): IntentRecord {
    // Where it is not being undone already, `due` is the end of its age.
    const again = isYoung(record) && record.due > now ? { again: record.due } : {};
    return { ...record, ...again, undoing: true };
  }

  async *#idsOf(meant: (record: IntentRecord) => boolean): AsyncGenerator<string[]> {
    for await (const page of this.#records.pages((error) => this.#log.error(error.message))) {
      yield page.flatMap(([id, record]) => (meant(record) ? id : []));
    }
  }

  async *#ofMount(mount: string): AsyncGenerator<[id: string, record: IntentRecord]> {
    for await (const page of this.#records.pages((error) => this.#log.error(error.message))) {
      for (const [id, record] of page) if (record.mount === mount) yield [id, record];
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
    const record = await this.#records.get(id);
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
      const record = await this.#records.get(id, tx);
      if (record) this.#records.remove(tx, id, record);
    });
  }

  #status(id: string, record: IntentRecord): IntentStatus {
    const leaves = leftByIntent(id, record, this.#mount(record.mount)?.intent(record.kind));
    return {
      id,
      mount: record.mount,
      kind: record.kind,
      opened: new Date(record.opened),
      target: this.#targetName(record),
      ...(record.failing_since === undefined ? {} : { failingSince: new Date(record.failing_since) }),
      tries: (record.tries ?? []).map(({ at, ...rest }) => ({ ...rest, at: new Date(at) })),
      ...dueStatus(record),
      ...(leaves === undefined ? {} : { leaves }),
    };
  }

  #targetName({ mount, kind, entry }: IntentRecord): string | undefined {
    try {
      return this.#mount(mount)?.intent(kind)?.target?.(structuredClone(entry));
    } catch {
      return undefined;
    }
  }

  #closeCircuit(target: string | undefined): void {
    if (target !== undefined) this.#outside.breakers.close(target);
  }

  /** Resolves with the reason when it could not be undone. */
  async #undo(id: string, found: IntentRecord, signal: AbortSignal): Promise<string | undefined> {
    const outcome = await this.work.attempt(id, found, signal);
    this.#report(outcome);
    if ('reason' in outcome) return outcome.reason;
    return outcome.state === 'delayed' ? 'the circuit breaker of the outside system is open because it keeps failing' : undefined;
  }

  #report(outcome: Outcome<IntentRecord, void>): void {
    if (outcome.state !== 'done' && outcome.state !== 'failed') return;
    const { mount, kind } = outcome.record;
    const facts = { mount: this.#mount(mount)?.path ?? mount, kind };
    if (outcome.state === 'done') this.#log.info('an unfinished change to an outside system was rolled back', facts);
    else this.#log.warn('a change to an outside system could not be rolled back yet', { ...facts, error: outcome.reason });
  }
}

function recovered({ failing_since: _over, ...record }: IntentRecord): IntentRecord {
  return { ...record, attempts: 0 };
}

/** What the journal asks of an intent that is opened. */
type OpenedIntent = Pick<AnyIntent, 'kind' | 'entry' | 'minAgeSeconds' | 'takesBack'>;
