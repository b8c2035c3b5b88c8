import { randomBytes } from 'node:crypto';
import {
  BadRequest,
  checkRecord,
  EngineError,
  mapConcurrently,
  NotFound,
  Unavailable,
  UpstreamFailed,
  type AnySchedule,
  type Clock,
  type JobStatus,
  type JobTry,
  type Log,
  type StorageView,
  type Subject,
} from '@strongroom/engine-sdk';
import type { Incarnations } from '../../kernel/incarnation/incarnations.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { DueRecords, dueStatus, withTry } from '../../kernel/work/due-records.ts';
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

/** A job, as operators see it. */
export interface ShownJob {
  /** Names it among all jobs: `<uuid of the mount>/<kind>/<id>`. */
  readonly key: string;
  /** Uuid. */
  readonly mount: string;
  readonly kind: string;
  readonly id: string;
  readonly status: JobStatus;
  /** What it is for; undefined where its engine does not say or does not run. */
  readonly about: Subject | undefined;
  /** What its engine calls the outside system that it asks; undefined for none. */
  readonly target: string | undefined;
}

/** Which jobs are listed. */
export interface JobQuery {
  /** Uuid; default: of all mounts. */
  readonly mount?: string | undefined;
  /** Only those that fail, found by an index. */
  readonly failing?: boolean;
  /** A key: those behind it. */
  readonly after?: string | undefined;
  /** At most 10,000. */
  readonly limit?: number | undefined;
}

/** The index of the jobs that fail. */
export const FAILING = 'failing-job/';
/** Most jobs of a list. */
const MOST = 10_000;
/** Records read at a time. */
const TOGETHER = 16;
/** Texts of an engine are cut off here. */
const LONGEST = 200;
/** Counts an attempt of a job of a mount. */
type CountJob = (mount: string, kind: string, result: 'ok' | 'failed') => void;

/** Jobs of engines: what their schedules do, and when it is done again. */
export class Jobs implements Work<JobRecord, NextTime> {
  readonly work: DueWork<JobRecord, NextTime>;
  /** A job whose engine does not run is looked at again. */
  readonly absent = { retryIn: 60_000 };
  readonly keepsTries = true;
  readonly #store: Store;
  readonly #clock: Clock;
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
    this.#clock = options.clock;
    this.#log = options.log;
    this.#outside = options.outside;
    this.#mount = options.mount;
    this.#counted = options.counted;
    this.#records = new DueRecords({ ...options, kind: 'job', records: jobRecords, marks: failingMarks });
    this.work = new DueWork<JobRecord, NextTime>({ ...options, records: this.#records, work: this });
  }

  /** `tried`: a try of its work outside of a run; a failed one makes it a failing job. */
  async schedule(
    tx: StoreTransaction,
    { mount, kind, id }: Pick<JobRecord, 'mount' | 'kind' | 'id'>,
    at: Date,
    entry: Record<string, unknown>,
    tried?: JobTry,
  ): Promise<void> {
    const due = at.getTime();
    if (Number.isNaN(due)) throw new TypeError(`job ${kind} ${id} is scheduled for no valid time`);
    const key = jobId(mount, kind, id);
    const before = await this.#records.get(key, tx);
    const record: JobRecord = { mount, kind, id, entry, due, planned: due, attempts: 0 };
    if (before?.last_success !== undefined) record.last_success = before.last_success;
    if (before?.tries !== undefined) record.tries = before.tries;
    if (tried) Object.assign(record, triedFields(tried, before));
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

  /** For operators: jobs by their keys, in byte order. */
  async list({ mount, failing = false, after, limit = MOST }: JobQuery = {}): Promise<ShownJob[]> {
    const query = { prefix: mount === undefined ? '' : `${mount}/`, ...(after ? { after } : {}), limit: Math.min(limit, MOST) };
    const entries = failing ? await this.#failing(query) : await this.#records.list(query, (error) => this.#log.error(error.message));
    const shown = new Array<ShownJob>(entries.length);
    await mapConcurrently(entries, TOGETHER, async ([key, record], at) => {
      shown[at] = await this.#shown(key, record);
    });
    return shown;
  }

  /** Undefined where there is none. */
  async find(key: string): Promise<ShownJob | undefined> {
    const record = await this.#records.get(key);
    return record && this.#shown(key, record);
  }

  /** Keys of the jobs that fail, in byte order. */
  async failingKeys(query: { readonly prefix?: string; readonly after?: string | undefined; readonly limit: number }): Promise<string[]> {
    const { prefix = '', after, limit } = query;
    const keys = await this.#store.keys({ prefix: FAILING + prefix, limit, ...(after === undefined ? {} : { after: FAILING + after }) });
    return keys.map((key) => key.slice(FAILING.length));
  }

  async #failing(query: { prefix: string; after?: string; limit: number }): Promise<[string, JobRecord][]> {
    const keys = await this.failingKeys(query);
    const records = new Map<string, JobRecord>();
    await mapConcurrently(keys, TOGETHER, async (key) => {
      const record = await this.#records.readable(key);
      if (record?.failing_since !== undefined) records.set(key, record);
    });
    return keys.flatMap((key): [string, JobRecord][] => {
      const record = records.get(key);
      return record ? [[key, record]] : [];
    });
  }

  async #shown(key: string, record: JobRecord): Promise<ShownJob> {
    const { mount: uuid, kind, id, entry } = record;
    const mount = this.#mount(uuid);
    const schedule = mount?.schedule(kind);
    const shown = { key, mount: uuid, kind, id, status: statusOf(record) };
    if (!mount || !schedule) return { ...shown, about: undefined, target: undefined };
    try {
      const checked = checkRecord(schedule.entry, structuredClone(entry), jobRecords.key(key));
      const about = await schedule.about?.(checked, mount.storage, id);
      return { ...shown, about: about && shortened(about), target: schedule.target?.(checked) };
    } catch (error) {
      this.#log.debug('an engine does not say what a job is for', { mount: mount.path, kind, id, error: String(error) });
      return { ...shown, about: undefined, target: undefined };
    }
  }

  /**
   * Runs a job now, whatever its circuit breaker says. The job decides itself what is due. Resolves with the job after it, undefined where it is done for good.
   * @throws NotFound, BadRequest while it is being run or its engine does not run, UpstreamFailed with the reason of a failure
   */
  async runNow(key: string, signal: AbortSignal): Promise<ShownJob | undefined> {
    const record = await this.#records.get(key);
    if (!record) throw new NotFound(`there is no job ${JSON.stringify(key)}`);
    const target = this.work.targetOf(key, record);
    if (target !== undefined) this.#outside.breakers.close(target);
    const now = this.#clock.millis();
    const outcome = await this.work.attempt(key, record, signal, ({ claim, due }) => (claim !== undefined && due > now ? 'taken' : 'yes'));
    this.#report(outcome);
    switch (outcome.state) {
      case 'done':
        return this.find(key);
      case 'failed':
        throw outcome.error instanceof EngineError ? outcome.error : new UpstreamFailed(outcome.reason);
      case 'taken':
        throw new BadRequest('the job is already running');
      case 'absent':
        throw new BadRequest('the engine that knows the job does not run');
      case 'gone':
        throw new NotFound(`there is no job ${JSON.stringify(key)} any more`);
      default:
        throw new Unavailable('the job was postponed: its outside system is busy, or the server is stopping');
    }
  }

  /** Makes a job due now, whatever its circuit breaker says. False: there is none. @throws BadRequest while it is being run. */
  async runSoon(mount: string, kind: string, id: string): Promise<boolean> {
    const key = jobId(mount, kind, id);
    const found = await this.#records.change(key, (record, now) => {
      if (record.claim !== undefined && record.due > now) throw new BadRequest('the job is already running');
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
    this.#report(await this.work.run(due, signal));
  }

  #report(outcome: Outcome<JobRecord, NextTime>): void {
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
      ...(schedule.deadline === undefined ? {} : { deadline: schedule.deadline }),
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

  /** A job that was scheduled again while it ran keeps that time. */
  done(
    _tx: StoreTransaction,
    _id: string,
    record: JobRecord,
    {
      result: next,
      now,
      held,
      took,
      request,
    }: { result: NextTime; now: number; held: boolean; took: number; request?: string | undefined },
  ): JobRecord | undefined {
    // Scheduled again with a failed try: the run ended, but its work did not succeed.
    if (!held) return record.failing_since === undefined ? { ...record, last_success: now } : record;
    if (!next) return undefined;
    const { last_error: _cleared, failing_since: _over, ...rest } = record;
    const tries = withTry(record.tries, { at: now, took, ...(request === undefined ? {} : { request }) });
    return { ...rest, attempts: 0, due: next.getTime(), planned: next.getTime(), last_success: now, ...tries };
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
    ...(record.failing_since === undefined ? {} : { failingSince: new Date(record.failing_since) }),
    ...(record.tries === undefined ? {} : { tries: record.tries.map(({ at, ...rest }) => ({ ...rest, at: new Date(at) })) }),
  };
}

function failingMarks(key: string, record: JobRecord): string[] {
  return record.failing_since === undefined ? [] : [FAILING + key];
}

/** What a try outside of a run leaves in the record. */
function triedFields(tried: JobTry, before: JobRecord | undefined): Partial<JobRecord> {
  const at = tried.at.getTime();
  const tries = withTry(before?.tries, { ...tried, at });
  if (tried.message === undefined) return { last_success: at, ...tries };
  return { failing_since: before?.failing_since ?? at, last_error: { message: tried.message, at }, ...tries };
}

function shortened({ noun, name, path, retry }: Subject): Subject {
  const cut = (text: unknown): string => String(text).slice(0, LONGEST);
  return { noun: cut(noun), name: cut(name), path: String(path), ...(retry === undefined ? {} : { retry: String(retry) }) };
}
