import { randomBytes } from 'node:crypto';
import type { AnySchedule, Clock, JobStatus, Log, StorageView } from '@strongroom/engine-sdk';
import { BadRequest, checkRecord, withDeadline } from '@strongroom/engine-sdk';
import { CorruptRecord } from '../../kernel/barrier/key-ring.ts';
import type { Incarnations, OrphanedWork } from '../../kernel/incarnation/incarnations.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { failureText, retryDelay } from '../../kernel/work/backoff.ts';
import { dueBetween, realign, reschedule, type DueEntry } from '../../kernel/work/schedule-index.ts';
import { NOT_TRIED, targetKey, type TargetGate } from '../../kernel/work/target-gate.ts';

const JOBS = 'job/';
const DEADLINE = 60_000;
/** How long a claim holds when the process that made it dies. */
const CLAIM = DEADLINE + 15_000;

/** Jobs of ended processes that are made due in one commit. */
const TAKEN_OVER = 64;

interface JobRecord {
  mount: string;
  kind: string;
  id: string;
  entry: Record<string, unknown>;
  /** Milliseconds: where the index entry stands. */
  due: number;
  /** When the work itself was due, also while it is claimed or retried. */
  planned: number;
  attempts: number;
  claim?: string;
  /** The incarnation that runs it. */
  process?: string;
  lastSuccess?: number;
  lastError?: { message: string; at: number };
}

/** What the jobs need to know of a mount to run its work. */
export interface JobMount {
  readonly path: string;
  readonly storage: StorageView;
  schedule(kind: string): AnySchedule | undefined;
}

/** Jobs of engines: `job/<mount>/<kind>/<id>`, indexed by time. */
export class Jobs implements OrphanedWork {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #store: Store;
  readonly #gate: TargetGate;
  readonly #mount: (uuid: string) => JobMount | undefined;
  readonly #random: () => number;
  readonly #incarnations: Incarnations;

  constructor(options: {
    incarnations: Incarnations;
    store: Store;
    clock: Clock;
    log: Log;
    gate: TargetGate;
    mount: (uuid: string) => JobMount | undefined;
    /** Tells the runner of a new time. */
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

  async schedule(tx: StoreTransaction, mount: string, kind: string, id: string, at: Date, entry: Record<string, unknown>): Promise<void> {
    const key = jobKey(mount, kind, id);
    const before = await tx.get<JobRecord>(key);
    const due = at.getTime();
    if (Number.isNaN(due)) throw new TypeError(`job ${kind} ${id} is scheduled for no valid time`);
    const record: JobRecord = { mount, kind, id, entry, due, planned: due, attempts: 0 };
    if (before?.lastSuccess !== undefined) record.lastSuccess = before.lastSuccess;
    tx.put(key, record);
    reschedule(tx, 'job', indexId(record), before?.due, due);
  }

  async unschedule(tx: StoreTransaction, mount: string, kind: string, id: string): Promise<void> {
    const key = jobKey(mount, kind, id);
    const before = await tx.get<JobRecord>(key);
    if (!before) return;
    tx.delete(key);
    reschedule(tx, 'job', indexId(before), before.due, undefined);
  }

  async status(mount: string, kind: string, id: string): Promise<JobStatus | undefined> {
    const record = await this.#store.get<JobRecord>(jobKey(mount, kind, id));
    return record && statusOf(record);
  }

  /** For operators: all jobs of a mount, or of all mounts. */
  async list(mount = ''): Promise<{ mount: string; kind: string; id: string; status: JobStatus }[]> {
    const prefix = mount === '' ? JOBS : `${JOBS}${mount}/`;
    const entries = await this.#store.entries<JobRecord>({ prefix, limit: 10_000 }, (error) => this.#log.error(error.message));
    return entries.map(([, record]) => ({ mount: record.mount, kind: record.kind, id: record.id, status: statusOf(record) }));
  }

  /** Makes jobs that failed at an outside system, or were put off, due now. One that runs at the moment is left to itself. */
  async retryTarget(mount: string, target: string): Promise<void> {
    const now = this.#clock.millis();
    for await (const page of this.#store.pages<JobRecord>(`${JOBS}${mount}/`, (error) => this.#log.error(error.message))) {
      for (const [key, found] of page) {
        const schedule = this.#mount(mount)?.schedule(found.kind);
        const waits = found.claim === undefined && found.planned <= now && found.due > now;
        if (schedule && waits && this.#target(schedule, found) === targetKey(mount, target)) await this.#putOff(key, found.due, 0);
      }
    }
  }

  /** Makes a job due now, whatever its circuit says. False: there is none. @throws BadRequest while it is being run. */
  async runSoon(mount: string, kind: string, id: string): Promise<boolean> {
    const key = jobKey(mount, kind, id);
    const found = await this.#store.transaction(async (tx) => {
      const record = await tx.get<JobRecord>(key);
      if (!record) return undefined;
      const now = this.#clock.millis();
      if (record.claim !== undefined && record.due > now) throw new BadRequest('the job is being run');
      tx.put(key, { ...record, due: now });
      reschedule(tx, 'job', indexId(record), record.due, now);
      return record;
    });
    const schedule = found && this.#mount(mount)?.schedule(kind);
    if (schedule) this.#gate.breakers.forgive(this.#target(schedule, found));
    return found !== undefined;
  }

  /** What processes that have ended were running is due again now. */
  async handOn(ended: ReadonlySet<string>): Promise<number> {
    let count = 0;
    const now = this.#clock.millis();
    for await (const page of dueBetween(this.#store, 'job', now, now + CLAIM)) {
      for (let at = 0; at < page.length; at += TAKEN_OVER) {
        count += await this.#store.transaction(async (tx) => {
          let taken = 0;
          for (const { id } of page.slice(at, at + TAKEN_OVER)) {
            const record = await tx.get<JobRecord>(JOBS + id).catch(damagedIsGone);
            if (record?.process === undefined || !ended.has(record.process)) continue;
            const { claim: _ended, process: _gone, ...rest } = record;
            tx.put(JOBS + id, { ...rest, due: now });
            reschedule(tx, 'job', id, record.due, now);
            taken += 1;
          }
          return taken;
        });
      }
    }
    return count;
  }

  /** Drops all jobs of a mount. */
  async forgetMount(mount: string): Promise<void> {
    for (;;) {
      const keys = await this.#store.keys({ prefix: `${JOBS}${mount}/`, limit: 500 });
      if (keys.length === 0) return;
      await this.#store.transaction(async (tx) => {
        for (const key of keys) {
          const record = await tx.get<JobRecord>(key).catch(damagedIsGone);
          tx.delete(key);
          if (record) reschedule(tx, 'job', indexId(record), record.due, undefined);
        }
      });
    }
  }

  /** Works off a due entry: claim, run, then the outcome and the next time in one commit. */
  async run(due: DueEntry, signal: AbortSignal): Promise<void> {
    const key = JOBS + due.id;
    const found = await this.#store.get<JobRecord>(key);
    if (found?.due !== due.at) {
      await this.#store.transaction(async (tx) => realign(tx, due, (await tx.get<JobRecord>(key))?.due));
      return;
    }
    const mount = this.#mount(found.mount);
    const schedule = mount?.schedule(found.kind);
    if (!mount || !schedule) {
      await this.#putOff(key, due.at, 60_000);
      return;
    }
    let claim: string | undefined;
    const passed = await this.#gate.pass(this.#target(schedule, found), async (admit) => {
      claim = await this.#claim(key, due.at);
      if (claim === undefined) return NOT_TRIED;
      const entry = checkRecord(schedule.entry, found.entry, key) as Record<string, unknown>;
      return withDeadline({ clock: this.#clock, millis: DEADLINE, parent: signal }, async (limit) => {
        admit(limit);
        return schedule.run(entry, mount.storage, limit, { id: found.id, due: new Date(found.planned), attempt: found.attempts + 1 });
      });
    });
    if (claim === undefined) {
      if ('putOff' in passed && passed.putOff > 0) await this.#putOff(key, due.at, passed.putOff);
      if ('failed' in passed) throw passed.failed;
      return;
    }
    if ('done' in passed) {
      const next = passed.done;
      if (next && Number.isNaN(next.getTime())) throw new TypeError(`job ${found.kind} ${found.id} names no valid next time`);
      await this.#finish(key, claim, true, (record, now) => {
        if (!next) return undefined;
        const { lastError: _cleared, ...rest } = record;
        return { ...rest, attempts: 0, due: next.getTime(), planned: next.getTime(), lastSuccess: now };
      });
    } else if ('failed' in passed) {
      const reason = failureText(passed.failed);
      // A server that stops says nothing about the outside system: the job is tried again at once by whoever is next.
      const stopped = signal.aborted;
      if (!stopped) {
        this.#log.warn('a scheduled job failed and will be retried', { mount: mount.path, kind: found.kind, id: found.id, error: reason });
      }
      await this.#finish(key, claim, false, (record, now) => {
        if (stopped) return { ...record, due: now };
        const attempts = record.attempts + 1;
        return { ...record, attempts, due: now + retryDelay(attempts, this.#random), lastError: { message: reason, at: now } };
      });
    }
  }

  /** Work of a mount that names no outside system has a lane of its own; so has work whose record does not fit. */
  #target(schedule: AnySchedule, record: JobRecord): string {
    try {
      return targetKey(record.mount, schedule.target?.(record.entry as never));
    } catch {
      return targetKey(record.mount, undefined);
    }
  }

  async #claim(key: string, due: number): Promise<string | undefined> {
    return this.#store.transaction(async (tx) => {
      const record = await tx.get<JobRecord>(key);
      if (record?.due !== due) return undefined;
      const claim = randomBytes(9).toString('base64url');
      const until = this.#clock.millis() + CLAIM;
      tx.put(key, { ...record, claim, process: this.#incarnations.id, due: until });
      reschedule(tx, 'job', indexId(record), due, until);
      return claim;
    });
  }

  /** Applies the outcome, unless the job was scheduled anew or dropped while it ran: then that stands. */
  async #finish(
    key: string,
    claim: string,
    succeeded: boolean,
    outcome: (record: JobRecord, now: number) => JobRecord | undefined,
  ): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const claimed = await tx.get<JobRecord>(key);
      if (claimed?.claim !== claim) {
        if (claimed && succeeded) tx.put(key, { ...claimed, lastSuccess: this.#clock.millis() });
        return;
      }
      const { claim: _released, process: _own, ...record } = claimed;
      const next = outcome(record, this.#clock.millis());
      if (next) tx.put(key, next);
      else tx.delete(key);
      reschedule(tx, 'job', indexId(record), claimed.due, next?.due);
    });
  }

  async #putOff(key: string, due: number, millis: number): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const record = await tx.get<JobRecord>(key);
      if (record?.due !== due) return;
      const next = this.#clock.millis() + millis;
      tx.put(key, { ...record, due: next });
      reschedule(tx, 'job', indexId(record), due, next);
    });
  }
}

function damagedIsGone(error: unknown): undefined {
  if (!(error instanceof CorruptRecord)) throw error;
  return undefined;
}

function jobKey(mount: string, kind: string, id: string): string {
  return `${JOBS}${mount}/${kind}/${id}`;
}

function indexId(record: Pick<JobRecord, 'mount' | 'kind' | 'id'>): string {
  return `${record.mount}/${record.kind}/${record.id}`;
}

function statusOf(record: JobRecord): JobStatus {
  return {
    state: record.claim !== undefined ? 'running' : record.attempts > 0 ? 'failing' : 'waiting',
    attempts: record.attempts,
    nextAttempt: new Date(record.due),
    ...(record.lastSuccess === undefined ? {} : { lastSuccess: new Date(record.lastSuccess) }),
    ...(record.lastError === undefined ? {} : { lastError: { message: record.lastError.message, at: new Date(record.lastError.at) } }),
  };
}
