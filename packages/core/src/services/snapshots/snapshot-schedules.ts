import { randomInt } from 'node:crypto';
import {
  BadRequest,
  NotFound,
  type Clock,
  type FailingThing,
  type JobRun,
  type Log,
  type Schedule,
  type SnapshotStorage,
  type StorageView,
  type Subject,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { failureText } from '../../kernel/work/failure-text.ts';
import type { SeriesFigures } from '../figures/due-figures.ts';
import { noRuns, scheduleRecords, type Kept, type SnapshotRuns, type SnapshotSettings } from './schedule-records.ts';
import { placeOf, type SnapshotPlaces } from './snapshot-places.ts';
import { retentionOf, snapshotName } from './retention.ts';
import { SnapshotUnderWay, type Snapshots } from './snapshots.ts';

const MINUTE = 60_000;
/** Milliseconds that a snapshot may take until it is there. */
const DEADLINE = 60 * MINUTE;
/** More than anybody needs. */
const MOST = 64;
const Named = Type.Object({ name: Type.String() });

/** What operators write; undefined is "not sent". */
export interface SettingsFields {
  readonly storage_type?: string | undefined;
  readonly interval?: number | undefined;
  readonly retain?: number | undefined;
  readonly max_age?: number | undefined;
  readonly path_prefix?: string | undefined;
  readonly file_prefix?: string | undefined;
  /** The fields of all storage types. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** How a series fares. */
export interface SeriesState {
  readonly settings: SnapshotSettings;
  readonly runs: SnapshotRuns;
  /** Undefined where nothing is scheduled. */
  readonly next: Date | undefined;
  /** A server takes a snapshot now. */
  readonly running: boolean;
}

interface Parts {
  readonly snapshots: Snapshots;
  readonly places: SnapshotPlaces;
  readonly storage: () => StorageView;
  /** Closes the circuit breaker of what a job of `sys/` names as its outside system. */
  readonly closeCircuit: (target: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Series of snapshots that are taken by the schedule and kept elsewhere. One server of several takes each. A snapshot that is being written is known by its name beforehand,
 * so that whoever comes next deletes what a server left that died; it counts only once it has been read back.
 */
export class SnapshotSchedules {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** One job a series. */
  readonly jobs: Schedule<typeof Named> = {
    kind: 'snapshot',
    entry: Named,
    deadline: DEADLINE,
    target: ({ name }) => target(name),
    about: async ({ name }) => this.subject(name),
    run: async ({ name }, _storage, signal, job) => this.#run(name, signal, job),
  };

  get names(): { list(query?: { after?: string; limit?: number }): Promise<string[]> } {
    return { list: async (query) => scheduleRecords(this.#parts.storage()).settings.list(query) };
  }

  /** What a series is to people. */
  subject(name: string): Subject {
    const path = 'storage/raft/snapshot-auto';
    return { noun: 'scheduled snapshot', name, path: `${path}/status/${name}`, retry: `${path}/run/${name}` };
  }

  /** What the storage of a series is to people, by the target that its job names. */
  system(of: string): Subject | undefined {
    const name = of.startsWith(target('')) ? of.slice(target('').length) : undefined;
    return name === undefined ? undefined : { ...this.subject(name), noun: 'snapshot storage' };
  }

  async get(name: string): Promise<SeriesState | undefined> {
    const storage = this.#parts.storage();
    const records = scheduleRecords(storage);
    const settings = await records.settings.get(name);
    if (!settings) return undefined;
    const job = await storage.jobStatus(this.jobs, name);
    return { settings, runs: (await records.runs.get(name)) ?? noRuns, next: job?.nextAttempt, running: job?.state === 'running' };
  }

  /** The first snapshot is taken at once, and so is the next where the last one failed. @throws BadRequest */
  async save(name: string, fields: SettingsFields): Promise<void> {
    const { storage, clock, places, closeCircuit } = this.#parts;
    const now = clock.millis();
    // What failed with other settings says nothing about these.
    closeCircuit(target(name));
    await storage().transaction(async (tx) => {
      const records = scheduleRecords(tx);
      const before = await records.settings.get(name);
      const settings = settingsOf(fields, before, now, places);
      const others = await records.settings.entries();
      if (!before && others.length >= MOST) throw new BadRequest(`there are ${MOST} series of snapshots, which is as many as there may be`);
      const url = await this.#urlOf(settings);
      for (const [other, theirs] of others)
        if (other !== name && (await this.#urlOf(theirs).catch(() => undefined)) === url)
          throw new BadRequest(`file_prefix: the series ${JSON.stringify(other)} writes to the same place under the same names`);
      const runs = (await records.runs.get(name)) ?? noRuns;
      const due = runs.failures > 0 || runs.last_start === undefined ? now : Math.max(now, runs.last_start + settings.interval * 1_000);
      await records.settings.put(name, settings);
      await tx.schedule(this.jobs, name, new Date(due), { name });
    });
  }

  /** Its snapshots stay. Unknown ones are no error. */
  async remove(name: string): Promise<void> {
    await this.#parts.storage().transaction(async (tx) => {
      const records = scheduleRecords(tx);
      await records.settings.delete(name);
      await records.runs.delete(name);
      await tx.unschedule(this.jobs, name);
    });
  }

  /** Series whose old snapshots cannot be deleted. Those whose snapshots fail are known by their jobs. */
  async failing(limit: number): Promise<FailingThing[]> {
    const runs = await scheduleRecords(this.#parts.storage()).runs.entries({ limit });
    return runs.flatMap(([name, { trouble }]): FailingThing[] => {
      if (!trouble) return [];
      const { noun, path } = this.subject(name);
      return [{ ...{ noun, name, path }, kind: 'drift', message: trouble.message, since: new Date(trouble.since) }];
    });
  }

  async figures(): Promise<SeriesFigures[]> {
    const records = scheduleRecords(this.#parts.storage());
    const now = this.#parts.clock.millis();
    const found = await records.settings.entries();
    return Promise.all(
      found.map(async ([name, { created, interval }]) => {
        const { kept, failures } = (await records.runs.get(name)) ?? noRuns;
        const good = kept.at(-1);
        const age = Math.max(0, now - (good?.at ?? created)) / 1_000;
        return { name, age, lastGood: good?.at, bytes: good?.bytes, failures, kept: kept.length, interval };
      }),
    );
  }

  async #urlOf(settings: SnapshotSettings): Promise<string> {
    const place = placeOf(settings);
    const storage = await this.#parts.places.type(settings.storage_type).open(place);
    try {
      return storage.url(settings.file_prefix);
    } finally {
      storage.close();
    }
  }

  async #run(name: string, signal: AbortSignal, { due }: JobRun): Promise<Date | undefined> {
    const { clock, places, log } = this.#parts;
    const settings = await scheduleRecords(this.#parts.storage()).settings.get(name);
    if (!settings) return undefined;
    const began = clock.millis();
    let storage: SnapshotStorage | undefined;
    try {
      storage = await places.stored(settings.storage_type).open(placeOf(settings));
      await this.#clear(name, storage, signal);
      const kept = await this.#write(name, settings, storage, { began, signal });
      log.info('a scheduled snapshot was taken', { name, url: kept.url, bytes: kept.bytes });
      await this.#retain(name, settings, storage, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SnapshotUnderWay) return new Date(clock.millis() + MINUTE);
      await this.#change(name, (runs) => ({
        ...runs,
        last_start: began,
        last_end: clock.millis(),
        last_error: failureText(error),
        failures: runs.failures + 1,
      }));
      throw error;
    } finally {
      storage?.close();
    }
    const interval = settings.interval * 1_000;
    // One that was asked for ahead of its time does not take the place of the next one.
    const passed = Math.max(0, Math.floor((clock.millis() - due.getTime()) / interval) + 1);
    return new Date(due.getTime() + passed * interval);
  }

  /** Deletes what a run left that ended in the middle. */
  async #clear(name: string, storage: SnapshotStorage, signal: AbortSignal): Promise<void> {
    const { writing } = (await scheduleRecords(this.#parts.storage()).runs.get(name)) ?? noRuns;
    if (!writing) return;
    if (writing.url === storage.url(writing.name)) await storage.clear(writing.name, signal);
    await this.#change(name, ({ writing: _cleared, ...runs }) => runs);
  }

  async #write(
    name: string,
    settings: SnapshotSettings,
    storage: SnapshotStorage,
    { began, signal }: { began: number; signal: AbortSignal },
  ): Promise<Kept> {
    const { clock, snapshots } = this.#parts;
    // The name is stored after the store was copied: a restore must not take the snapshot for what a dead server left.
    const { body } = await snapshots.take();
    try {
      const at = clock.millis();
      const file = snapshotName(settings.file_prefix, at, String(randomInt(1_000_000)).padStart(6, '0'));
      const url = storage.url(file);
      await this.#change(name, (runs) => ({ ...runs, last_start: began, writing: { name: file, url, at } }));
      const staged = await storage.write(file, body.open(signal) as AsyncIterable<Uint8Array>, signal);
      await this.#insist(name, file).catch(async (error: unknown) => {
        await staged.discard();
        throw error;
      });
      await staged.commit(signal);
      const good: Kept = { name: file, url, at, bytes: staged.bytes };
      await this.#change(name, ({ writing: _done, last_error: _over, ...runs }) => ({
        ...runs,
        last_end: clock.millis(),
        failures: 0,
        kept: [...runs.kept, good],
      }));
      return good;
    } finally {
      await body.cancel?.();
    }
  }

  /** @throws Error where somebody else goes on with the series, or nobody */
  async #insist(name: string, file: string): Promise<void> {
    const runs = await scheduleRecords(this.#parts.storage()).runs.get(name);
    if (runs?.writing?.name !== file) throw new Error('the series was changed while the snapshot was written');
  }

  /** A failure here is shown, and spoils no snapshot. */
  async #retain(name: string, settings: SnapshotSettings, storage: SnapshotStorage, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    const removed: string[] = [];
    let trouble: string | undefined;
    try {
      const { kept } = (await scheduleRecords(this.#parts.storage()).runs.get(name)) ?? noRuns;
      // The series no longer manages snapshots in a place that it wrote to before.
      const here = kept.filter((one) => one.url === storage.url(one.name));
      removed.push(...kept.filter((one) => !here.includes(one)).map((one) => one.name));
      const found = await storage.list(signal);
      const decision = retentionOf(
        here,
        found.map((one) => one.name),
        {
          filePrefix: settings.file_prefix,
          retain: settings.retain,
          maxAge: settings.max_age * 1_000,
          accepted: settings.written,
          now: clock.millis(),
        },
      );
      trouble = decision.trouble;
      for (const old of decision.remove) {
        await storage.remove(old.name, signal);
        removed.push(old.name);
        log.info('an old snapshot was deleted', { name, url: old.url });
      }
    } catch (error) {
      if (signal.aborted) return;
      trouble = `old snapshots could not be deleted: ${failureText(error)}`;
    }
    if (trouble !== undefined) log.warn('snapshots are not deleted as they should be', { name, reason: trouble });
    await this.#change(name, ({ trouble: before, ...runs }) => ({
      ...runs,
      kept: runs.kept.filter((one) => !removed.includes(one.name)),
      ...(trouble === undefined ? {} : { trouble: { message: trouble, since: before?.since ?? clock.millis() } }),
    }));
  }

  /** Nothing of a series that was removed meanwhile. */
  async #change(name: string, change: (runs: SnapshotRuns) => SnapshotRuns): Promise<void> {
    await this.#parts.storage().transaction(async (tx) => {
      const records = scheduleRecords(tx);
      if (!(await records.settings.has(name))) return;
      await records.runs.put(name, change((await records.runs.get(name)) ?? noRuns));
    });
  }
}

/** What the job of a series calls the storage that it writes to. */
function target(name: string): string {
  return `snapshots/${name}`;
}

/** @throws BadRequest */
function settingsOf(fields: SettingsFields, before: SnapshotSettings | undefined, now: number, places: SnapshotPlaces): SnapshotSettings {
  const required = <T>(name: string, value: T | undefined): T => {
    if (value === undefined || value === '') throw new BadRequest(`${name} is required`);
    return value;
  };
  const type = places.type(required('storage_type', fields.storage_type ?? before?.storage_type));
  const same = before?.storage_type === type.name ? before : undefined;
  const settings: SnapshotSettings = {
    storage_type: type.name,
    interval: required('interval', fields.interval ?? before?.interval),
    retain: fields.retain ?? before?.retain ?? 1,
    max_age: fields.max_age ?? before?.max_age ?? 0,
    path_prefix: required('path_prefix', fields.path_prefix ?? same?.path_prefix),
    file_prefix: (fields.file_prefix ?? before?.file_prefix) || 'strongroom-snapshot',
    settings: places.merged(type, fields.values, same?.settings),
    created: before?.created ?? now,
    written: now,
  };
  if (settings.interval < 60 || settings.interval > 366 * 86_400) throw new BadRequest('interval must be from 1 minute to 366 days');
  if (settings.retain < 1 || settings.retain > 1_000) throw new BadRequest('retain must be from 1 to 1000 snapshots');
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(settings.file_prefix))
    throw new BadRequest('file_prefix must be at most 100 letters, digits, dots, dashes and underscores, and begin with a letter or digit');
  type.check(placeOf(settings));
  return settings;
}

/** @throws NotFound */
export function unknownSeries(name: string): NotFound {
  return new NotFound(`there are no scheduled snapshots ${JSON.stringify(name)}`);
}
