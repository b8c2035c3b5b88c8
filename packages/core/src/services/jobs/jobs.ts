import { randomBytes } from 'node:crypto';
import { BadRequest, checkRecord, type AnySchedule, type Clock, type JobStatus, type Log, type StorageView } from '@strongroom/engine-sdk';
import type { Incarnations } from '../../kernel/incarnation/incarnations.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { DueRecords, dueStatus } from '../../kernel/work/due-records.ts';
import { DueWork, type Outcome, type Task, type Work } from '../../kernel/work/due-work.ts';
import type { OutsideSystems } from '../../kernel/work/outside-systems.ts';
import type { DueEntry } from '../../kernel/work/schedule-index.ts';
import { jobId, jobRecords, type JobRecord } from './job-record.ts';

/** What the jobs need to know of a mount to run its work. */
export interface JobMount {
  readonly path: string;
  readonly storage: StorageView;
  schedule(kind: string): AnySchedule | undefined;
}

type NextTime = Date | undefined;

/** Counts an attempt of a job of a mount. */
type CountJob = (mount: string, kind: string, result: 'ok' | 'failed') => void;

/** Jobs of engines: what their schedules do, and when it is done again. */
export class Jobs implements Work<JobRecord, NextTime> {
  readonly work: DueWork<JobRecord, NextTime>;
  /** A job whose engine does not run is looked at again. */
  readonly absent = { retryIn: 60_000 };
  readonly #store: Store;
  readonly #log: Log;
  readonly #outside: OutsideSystems;
  readonly #records: DueRecords<JobRecord>;
  readonly #mount: (uuid: string) => JobMount | undefined;
  readonly #counted: CountJob;

  constructor(options: {
    incarnations: Incarnations;
    store: Store;
    clock: Clock;
    log: Log;
    outside: OutsideSystems;
    mount: (uuid: string) => JobMount | undefined;
    counted: CountJob;
    random?: () => number;
  }) {
    this.#store = options.store;
    this.#log = options.log;
    this.#outside = options.outside;
    this.#mount = options.mount;
    this.#counted = options.counted;
    this.#records = new DueRecords({ ...options, kind: 'job', records: jobRecords });
    this.work = new DueWork<JobRecord, NextTime>({ ...options, records: this.#records, work: this });
  }

  async schedule(tx: StoreTransaction, mount: string, kind: string, id: string, at: Date, entry: Record<string, unknown>): Promise<void> {
    const due = at.getTime();
    if (Number.isNaN(due)) throw new TypeError(`job ${kind} ${id} is scheduled for no valid time`);
    const key = jobId(mount, kind, id);
    const before = await this.#records.get(key, tx);
    const record: JobRecord = { mount, kind, id, entry, due, planned: due, attempts: 0 };
    if (before?.last_success !== undefined) record.last_success = before.last_success;
    this.#records.put(tx, key, before, record);
  }

  async unschedule(tx: StoreTransaction, mount: string, kind: string, id: string): Promise<void> {
    const key = jobId(mount, kind, id);
    const before = await this.#records.get(key, tx);
    if (before) this.#records.remove(tx, key, before);
  }

  async status(mount: string, kind: string, id: string): Promise<JobStatus | undefined> {
    const record = await this.#records.get(jobId(mount, kind, id));
    return record && statusOf(record);
  }

  /** For operators: all jobs of a mount, or of all mounts. */
  async list(mount = ''): Promise<{ mount: string; kind: string; id: string; status: JobStatus }[]> {
    const entries = await this.#records.list({ prefix: mount === '' ? '' : `${mount}/`, limit: 10_000 }, (error) =>
      this.#log.error(error.message),
    );
    return entries.map(([, record]) => ({ mount: record.mount, kind: record.kind, id: record.id, status: statusOf(record) }));
  }

  /** Makes a job due now, whatever its circuit breaker says. False: there is none. @throws BadRequest while it is being run. */
  async runSoon(mount: string, kind: string, id: string): Promise<boolean> {
    const key = jobId(mount, kind, id);
    const found = await this.#records.change(key, (record, now) => {
      if (record.claim !== undefined && record.due > now) throw new BadRequest('the job is being run');
      return { ...record, due: now };
    });
    const target = found && this.work.targetOf(key, found);
    if (target !== undefined) this.#outside.breakers.close(target);
    return found !== undefined;
  }

  /** Drops all jobs of a mount. */
  async forgetMount(mount: string): Promise<void> {
    for (;;) {
      const keys = await this.#store.keys({ prefix: jobRecords.key(`${mount}/`), limit: 500 });
      if (keys.length === 0) return;
      await this.#store.transaction(async (tx) => {
        for (const key of keys) {
          const id = key.slice(jobRecords.prefix.length);
          const record = await this.#records.readable(id, tx);
          if (record) this.#records.remove(tx, id, record);
          else this.#records.removeDamaged(tx, id);
        }
      });
    }
  }

  async run(due: DueEntry, signal: AbortSignal): Promise<void> {
    const outcome = await this.work.run(due, signal);
    if (outcome.state !== 'failed') return;
    const { mount, kind, id } = outcome.record;
    const path = this.#mount(mount)?.path ?? mount;
    this.#log.warn('a scheduled job failed and will be retried', { mount: path, kind, id, error: outcome.reason });
  }

  task(key: string, { mount: uuid, kind, entry }: JobRecord): Task<JobRecord, NextTime> | undefined {
    const mount = this.#mount(uuid);
    const schedule = mount?.schedule(kind);
    if (!mount || !schedule) return undefined;
    return {
      mount: uuid,
      target: () => schedule.target?.(entry),
      run: async (record, signal) => {
        const { id, planned, attempts } = record;
        const checked = checkRecord(schedule.entry, record.entry, jobRecords.key(key));
        const next = await schedule.run(checked, mount.storage, signal, { id, due: new Date(planned), attempt: attempts + 1 });
        if (next && Number.isNaN(next.getTime())) throw new TypeError(`job ${kind} ${id} names no valid next time`);
        return next;
      },
    };
  }

  begun(record: JobRecord): JobRecord {
    return { ...record, claim: randomBytes(9).toString('base64url') };
  }

  /** A job that was scheduled anew while it ran keeps that time. */
  done(
    _tx: StoreTransaction,
    _id: string,
    record: JobRecord,
    { result: next, now, held }: { result: NextTime; now: number; held: boolean },
  ): JobRecord | undefined {
    if (!held) return { ...record, last_success: now };
    if (!next) return undefined;
    const { last_error: _cleared, ...rest } = record;
    return { ...rest, attempts: 0, due: next.getTime(), planned: next.getTime(), last_success: now };
  }

  attempted(_id: string, outcome: Outcome<JobRecord, NextTime>): void {
    if (outcome.state === 'done') this.#counted(outcome.record.mount, outcome.record.kind, 'ok');
    else if (outcome.state === 'failed') this.#counted(outcome.record.mount, outcome.record.kind, 'failed');
  }

  async *waiting(mount: string): AsyncGenerator<string[]> {
    for await (const page of this.#records.pages((error) => this.#log.error(error.message), `${mount}/`)) yield page.map(([id]) => id);
  }

  /** One that runs at the moment is skipped. */
  again(record: JobRecord, now: number): JobRecord | undefined {
    return record.claim === undefined && record.planned <= now && record.due > now ? { ...record, due: now } : undefined;
  }
}

function statusOf(record: JobRecord): JobStatus {
  return {
    state: record.claim !== undefined ? 'running' : record.attempts > 0 ? 'failing' : 'waiting',
    ...dueStatus(record),
    ...(record.last_success === undefined ? {} : { lastSuccess: new Date(record.last_success) }),
  };
}
