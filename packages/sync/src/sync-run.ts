import { randomUUID } from 'node:crypto';
import { retryDelay, waitAtMost, withDeadline, type EngineHost, type SecretSources, type Transaction } from '@strongroom/engine-sdk';
import { ExternalServiceError, isSyncError, secretsOf, type DestinationLimits, type Throttled } from '@strongroom/sync-sdk';
import type { Static } from 'typebox';
import { contentsOf, textsIn } from './contents.ts';
import type { DestinationTypes } from './destination-types.ts';
import type { Fingerprints } from './fingerprints.ts';
import type { Pacer } from './pacer.ts';
import {
  idOf,
  nameOwnerIn,
  placeOf,
  recordsIn,
  secretId,
  settingsIn,
  type AssociationRecord,
  type DestinationRecord,
  type Records,
  type RemoteRecord,
} from './records.ts';
import { forgetDestination } from './reconciliation.ts';
import { nameId, remoteName } from './remote-names.ts';
import { DEADLINE } from './destination-guard.ts';
import { RemoteWriter, Vanished, type Wanted } from './remote-writer.ts';
import type { Sessions } from './sessions.ts';
import type { SyncEntry, SyncQueue } from './sync-queue.ts';
import { failureOf, masked, Refusal, type Failure } from './sync-status.ts';

/** Longer than a job may run: who still holds an association then is dead. */
const HOLD = 75_000;
/** A run that takes longer ends with what it has, and another one goes on. */
const ENOUGH = 40_000;
/** When a new association is looked at once more: a change made while another process had not heard of it is found then. */
const SETTLING = 30_000;
/** How often a request looks whether a run of another process has ended. Milliseconds. */
const POLL = 250;
/** Before a failed association is tried again: at most an hour. */
const BACKOFF = { most: 3_600_000 };
const UNDER_WAY: readonly string[] = ['PENDING', 'SYNCING', 'UNSYNCING'];

/** What should exist outside for an association, by key, as of one moment. */
interface Prepared {
  readonly association: AssociationRecord;
  readonly destination: DestinationRecord;
  readonly limits: DestinationLimits;
  readonly wanted: ReadonlyMap<string, Wanted>;
  /** The mount is there but its engine is not, as when its plugin fails to start: nothing is known of the secret then. */
  readonly unknown: boolean;
  readonly version: number;
  readonly expiresAt: Date | undefined;
}

interface Task {
  readonly run: string;
  /** When it began, RFC 3339. */
  readonly since: string;
  readonly association: AssociationRecord;
  readonly destination: DestinationRecord;
  readonly limits: DestinationLimits;
  /** By the id of the remote. */
  readonly wanted: ReadonlyMap<string, Wanted>;
  readonly sourceVersion: number;
  readonly expiresAt: Date | undefined;
  /** What stands in the way of a key before anything is sent. */
  readonly refused: readonly RefusedKey[];
}

interface RefusedKey extends Failure {
  readonly key: string;
}

interface Outcome {
  readonly remotes: readonly RemoteRecord[];
  readonly failures: readonly Failure[];
  /** Ended before everything was tried. */
  readonly unfinished: boolean;
  readonly retryAt?: number;
}

/**
 * Brings what exists outside for one association to what should. Before anything is sent, names and intent are stored; the outcome is
 * stored together with the next time. An association is held by one run at a time, in whatever process, so that its secrets
 * are written in order.
 */
export class SyncRun {
  readonly #host: EngineHost;
  readonly #sources: SecretSources;
  readonly #types: DestinationTypes;
  readonly #sessions: Sessions;
  readonly #pacer: Pacer;
  readonly #fingerprints: Fingerprints;
  readonly #queue: SyncQueue;
  readonly #runs = new Set<Promise<unknown>>();
  /** Who waits for a run of this process to let go of an association, by its id. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #stop = new AbortController();

  constructor(parts: {
    host: EngineHost;
    sources: SecretSources;
    types: DestinationTypes;
    sessions: Sessions;
    pacer: Pacer;
    fingerprints: Fingerprints;
    queue: SyncQueue;
  }) {
    this.#host = parts.host;
    this.#sources = parts.sources;
    this.#types = parts.types;
    this.#sessions = parts.sessions;
    this.#pacer = parts.pacer;
    this.#fingerprints = parts.fingerprints;
    this.#queue = parts.queue;
  }

  async job(entry: Static<typeof SyncEntry>, signal: AbortSignal): Promise<Date | undefined> {
    const ended = await this.#run(entry.association, signal);
    return ended === 'held' ? this.#heldUntil(entry.association) : ended;
  }

  /**
   * Runs now, besides the schedule, which takes over if this takes longer than a number of milliseconds. Where another run holds the association, its end
   * is waited for, and then that of the run that carries out what was asked for: the association with this `change`.
   */
  async soon(id: string, change: number, millis: number): Promise<void> {
    const patience = new AbortController();
    if (millis <= 0) patience.abort();
    const run = this.#carriedOut(id, change, patience.signal).catch((error: unknown) => {
      this.#host.log.warn('a sync that a request began was interrupted; the schedule continues it', { error: String(error) });
    });
    this.#runs.add(run);
    void run.finally(() => this.#runs.delete(run));
    await waitAtMost(this.#host.clock, millis, run);
    patience.abort();
  }

  /** `patience`: aborted when nobody waits for it any more. */
  async #carriedOut(id: string, change: number, patience: AbortSignal): Promise<void> {
    const { associations } = recordsIn(this.#host.storage);
    const isHeld = async (): Promise<boolean> => {
      const working = (await associations.get(id))?.working;
      return working !== undefined && Date.parse(working.until) > this.#host.clock.millis();
    };
    while ((await this.#run(id, this.#stop.signal)) === 'held') {
      while (await isHeld()) {
        await this.#released(id, AbortSignal.any([patience, this.#stop.signal]));
        this.#stop.signal.throwIfAborted();
        if (patience.aborted) return;
      }
      const now = await associations.get(id);
      // Whoever held it may have been the one that carried this out.
      if (!now || (now.change === change && !UNDER_WAY.includes(now.status))) return;
    }
  }

  /** Resolves as soon as a run of this process lets go of the association, and after a while at the latest: another process may hold it. */
  async #released(id: string, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set<() => void>();
      const cancel = this.#host.clock.after(POLL, () => done());
      const done = (): void => {
        cancel();
        signal.removeEventListener('abort', done);
        waiting.delete(done);
        if (waiting.size === 0) this.#waiting.delete(id);
        resolve();
      };
      this.#waiting.set(id, waiting.add(done));
      if (signal.aborted) done();
      else signal.addEventListener('abort', done, { once: true });
    });
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the server is stopping'));
    await Promise.all(this.#runs);
  }

  /** When to come again; undefined where the schedule knows better, or there is nothing to do. `held`: another run holds it. */
  async #run(id: string, signal: AbortSignal): Promise<Date | 'held' | undefined> {
    const records = recordsIn(this.#host.storage);
    if ((await settingsIn(records)).disabled) return undefined;
    for (;;) {
      const association = await records.associations.get(id);
      const destination = association && (await records.destinations.get(association.place));
      if (!association || !destination || destination.id !== association.destination) return undefined;
      const { limits: limitsOf } = this.#types.installed(destination.type);
      const limits = limitsOf(destination.connection);
      const turn = this.#pacer.turn(destination, id, limits.pace);
      if (turn) return turn;
      const prepared = await this.#prepare(association, destination, limits);
      const begun = await this.#begin(prepared);
      if (begun === 'changed') continue;
      if (begun === 'held') return 'held';
      try {
        const outcome = await this.#carryOut(begun, signal);
        await this.#finish(begun, outcome);
      } finally {
        for (const released of [...(this.#waiting.get(id) ?? [])]) released();
      }
      return undefined;
    }
  }

  async #heldUntil(id: string): Promise<Date> {
    const working = (await recordsIn(this.#host.storage).associations.get(id))?.working;
    return working ? new Date(working.until) : this.#host.clock.now();
  }

  /** What should exist outside, by key, as of this moment. */
  async #prepare(association: AssociationRecord, destination: DestinationRecord, limits: DestinationLimits): Promise<Prepared> {
    const wanted = new Map<string, Wanted>();
    const source = association.wanted === 'synced' ? this.#sources.byUuid(association.mount)?.source : undefined;
    const secret = await source?.read(association.secret_name);
    if (secret) {
      for (const [key, content] of contentsOf(secret.data, association.granularity)) {
        const fingerprint = await this.#fingerprints.of(content.value, destination.custom_tags);
        wanted.set(key, { ...content, fingerprint, ...(secret.origin === undefined ? {} : { origin: secret.origin }) });
      }
    }
    const unknown = association.wanted === 'synced' && !source;
    return { association, destination, limits, wanted, unknown, version: secret?.version ?? 0, expiresAt: secret?.expiresAt };
  }

  /** Holds the association, gives every key its remote, and stores what is about to be written. */
  async #begin(prepared: Prepared): Promise<Task | 'changed' | 'held'> {
    const { destination, limits } = prepared;
    const now = this.#host.clock.now();
    const run = randomUUID();
    return this.#host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      const association = await records.associations.get(idOf(prepared.association));
      if (!association || association.change !== prepared.association.change) return 'changed';
      if (association.working && Date.parse(association.working.until) > now.getTime()) return 'held';
      const { remotes, wanted, refused } = prepared.unknown
        ? { remotes: association.remotes, wanted: new Map<string, Wanted>(), refused: [{ key: '', ...SOURCE_UNKNOWN }] }
        : await this.#assign(records, association, destination, limits, prepared.wanted);
      const next = remotes.map((remote) => intending(remote, wanted.get(remote.id), association.verify, now));
      const held: AssociationRecord = {
        ...association,
        remotes: next,
        working: { run, since: now.toISOString(), until: new Date(now.getTime() + HOLD).toISOString() },
        status: association.wanted === 'removed' ? 'UNSYNCING' : 'SYNCING',
      };
      await records.associations.put(idOf(held), held);
      return {
        run,
        since: now.toISOString(),
        association: held,
        destination,
        limits,
        wanted,
        refused,
        sourceVersion: prepared.version,
        expiresAt: prepared.expiresAt,
      };
    });
  }

  /** Remotes for the keys wanted; those whose key or name is gone are leaving. New names are claimed. */
  async #assign(
    records: Records,
    association: AssociationRecord,
    destination: DestinationRecord,
    limits: DestinationLimits,
    contents: ReadonlyMap<string, Wanted>,
  ): Promise<{ remotes: RemoteRecord[]; wanted: Map<string, Wanted>; refused: RefusedKey[] }> {
    const wanted = new Map<string, Wanted>();
    const refused: RefusedKey[] = [];
    const remotes: RemoteRecord[] = [];
    const left = new Map(association.remotes.map((remote) => [nameId(destination.id, remote.name, limits.name), remote]));
    const taken = new Set<string>();
    for (const [key, content] of contents) {
      try {
        const name = remoteName(destination, association, key, limits.name);
        const claim = nameId(destination.id, name, limits.name);
        const owner = await nameOwnerIn(records, claim);
        if (taken.has(claim) || (owner !== undefined && owner !== idOf(association))) {
          const by = taken.has(claim) ? 'another key of this secret' : 'another association of this destination';
          throw new Refusal(
            'name_in_use',
            `the name ${JSON.stringify(name)} is used by ${by}: change secret_name_template so that names differ`,
          );
        }
        taken.add(claim);
        if (owner === undefined) await records.names.put(claim, { association: idOf(association) });
        const { leaving: _back, ...known } = left.get(claim) ?? this.#newRemote(key, name);
        left.delete(claim);
        const remote = { ...known, key };
        remotes.push(remote);
        wanted.set(remote.id, content);
      } catch (error) {
        refused.push({ key, ...failureOf(error, []) });
        // What stands under the old name stays until there is a new one.
        for (const [claim, remote] of left) {
          if (remote.key === key && !remote.leaving && left.delete(claim)) remotes.push(remote);
        }
      }
    }
    for (const remote of left.values()) remotes.push({ ...remote, leaving: true });
    return { remotes, wanted, refused };
  }

  #newRemote(key: string, name: string): RemoteRecord {
    const id = Buffer.from(this.#host.randomBytes(12)).toString('hex');
    return { id, key, name, status: 'PENDING', updated_at: this.#host.clock.now().toISOString() };
  }

  /** Everything outside: first what is created or changed, then what goes. */
  async #carryOut(task: Task, signal: AbortSignal): Promise<Outcome> {
    const { destination, association } = task;
    const failures: Failure[] = [...task.refused];
    const remotes = new Map(association.remotes.map((remote) => [remote.id, remote]));
    const writes = association.remotes.filter(({ writing, leaving }) => writing && !leaving);
    const removals = association.remotes.filter(({ leaving }) => leaving);
    if (writes.length + removals.length === 0) return { remotes: [...remotes.values()], failures, unfinished: false };
    const until = this.#host.clock.millis() + ENOUGH;
    let stopped: Failure | undefined;
    let retryAt: number | undefined;
    let unfinished = false;
    const secrets = [...secretsOf(this.#types.installed(destination.type).connection, destination.connection)];
    const now = (): string => this.#host.clock.now().toISOString();
    const deadline = {
      clock: this.#host.clock,
      millis: DEADLINE,
      parent: signal,
      passed: () => new ExternalServiceError(`no answer within ${DEADLINE / 1_000} s`, { providerCode: 'timeout' }),
      // Each call of the plugin ends by itself soon after the signal.
      grace: Infinity,
    };

    const attempt = async (
      remote: RemoteRecord,
      work: () => Promise<RemoteRecord | undefined>,
      values: readonly string[],
    ): Promise<void> => {
      if (stopped || this.#host.clock.millis() > until) {
        unfinished = true;
        return;
      }
      try {
        signal.throwIfAborted();
        const after = await work();
        if (after) remotes.set(remote.id, after);
        else remotes.delete(remote.id);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof Vanished) {
          const { identity: _i, revision: _r, fingerprint: _f, writing: _w, ...bare } = remote;
          remotes.set(remote.id, { ...bare, status: 'PENDING', updated_at: now() });
          unfinished = true;
          return;
        }
        const failure = failureOf(error, [...secrets, ...values]);
        this.#noteFault(association, failure, error, [...secrets, ...values]);
        failures.push(failure);
        // Refused for certain: nothing of this write exists outside.
        const refusedNow = failure.status === 'CLIENT_SIDE_ERROR' && remote.writing?.since === task.since;
        const { writing, ...rest } = remote;
        remotes.set(remote.id, {
          ...rest,
          ...(writing && !refusedNow ? { writing } : {}),
          status: failure.status,
          last_error: failure.error,
          updated_at: now(),
        });
        if (isSyncError(error, 'throttled')) {
          const { retryAfterSeconds } = error as Throttled;
          const pause =
            retryAfterSeconds === undefined ? retryDelay(association.attempts + 1, () => 0.5, BACKOFF) : retryAfterSeconds * 1_000;
          retryAt = this.#host.clock.millis() + pause;
          this.#pacer.pause(destination, task.limits.pace, retryAt);
        }
        if (isSyncError(error) && error.code !== 'client_side' && error.code !== 'name_taken') stopped = failure;
      }
    };

    try {
      await withDeadline(deadline, async (limit) =>
        this.#sessions.use(destination, async (open) => {
          const writer = new RemoteWriter(destination, open, limit, task.since);
          for (const remote of writes) {
            const wanted = task.wanted.get(remote.id)!;
            await attempt(remote, async () => written(remote, await writer.write(remote, wanted), wanted, now()), textsIn(wanted.value));
          }
          const successors = [...task.wanted.keys()].map((id) => remotes.get(id)!);
          for (const remote of removals) {
            if (successors.some((other) => takesOver(remote, other) && !isSynced(other))) continue;
            await attempt(remote, async () => {
              const gone = await writer.remove(remote);
              if (gone === 'not ours') this.#host.log.warn('a remote secret is no longer ours and is ignored', { name: remote.name });
              return undefined;
            }, []);
          }
        }),
      );
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureOf(error, secrets);
      this.#noteFault(association, failure, error, secrets);
      failures.push(failure);
      for (const { id } of [...writes, ...removals]) {
        const remote = remotes.get(id);
        if (remote) remotes.set(id, { ...remote, status: failure.status, last_error: failure.error, updated_at: now() });
      }
    }
    return { remotes: [...remotes.values()], failures, unfinished, ...(retryAt === undefined ? {} : { retryAt }) };
  }

  /** Logs what the status only calls a failure of the server. */
  #noteFault({ place }: AssociationRecord, { status }: Failure, error: unknown, secrets: readonly string[]): void {
    if (status === 'INTERNAL_VAULT_ERROR') this.#host.log.error('a sync failed', { place, error: masked(String(error), secrets) });
  }

  /** Stores the outcome and, in the same commit, when the next run is. */
  async #finish(task: Task, outcome: Outcome): Promise<void> {
    const gone = await this.#host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      const current = await records.associations.get(idOf(task.association));
      if (current?.working?.run !== task.run) return undefined;
      const { working: _released, last_error: _old, next_attempt_at: _then, refused: _before, ...rest } = current;
      const nowMillis = this.#host.clock.millis();
      const [failure] = outcome.failures;
      const done = failure === undefined && !outcome.unfinished;
      if (done || failure) reportRun(tx, task, done);
      const overtaken = current.change !== task.association.change;
      const claimed = overtaken ? current.claimed : [];
      await this.#releaseNames(records, task, [...outcome.remotes.map(({ name }) => name), ...claimed]);
      if (done && !overtaken && current.wanted === 'removed') return this.#forget(tx, records, current, task.destination);

      const attempts = failure === undefined ? 0 : current.attempts + 1;
      const retryAt =
        failure === undefined || (await hasBeenWritten(records, task.destination))
          ? nowMillis
          : (outcome.retryAt ?? nowMillis + retryDelay(attempts, Math.random, BACKOFF));
      const association: AssociationRecord = {
        ...rest,
        claimed,
        remotes: [...outcome.remotes],
        ...(task.refused.length > 0 ? { refused: [...task.refused] } : {}),
        attempts: overtaken ? 0 : attempts,
        verify: overtaken ? current.verify : !done && current.verify,
        source_version: done ? task.sourceVersion : current.source_version,
        status: overtaken
          ? current.status
          : (failure?.status ?? (outcome.unfinished ? 'PENDING' : outcome.remotes.length > 0 ? 'SYNCED' : 'UNSYNCED')),
        updated_at: new Date(nowMillis).toISOString(),
        ...(failure === undefined ? {} : { last_error: failure.error }),
        ...(failure === undefined || overtaken ? {} : { next_attempt_at: new Date(retryAt).toISOString() }),
        ...(done ? { settled: true } : {}),
      };
      await records.associations.put(idOf(association), association);
      const tried = { at: new Date(nowMillis), took: nowMillis - Date.parse(task.since) };
      if (overtaken || outcome.unfinished)
        await this.#queue.schedule(
          tx,
          association,
          new Date(failure && !overtaken ? retryAt : nowMillis),
          failure && !overtaken ? { ...tried, message: failure.error.message } : undefined,
        );
      else if (failure) await this.#queue.schedule(tx, association, new Date(retryAt), { ...tried, message: failure.error.message });
      else {
        await records.pending.delete(idOf(association));
        const again = Math.min(task.expiresAt?.getTime() ?? Infinity, current.settled ? Infinity : nowMillis + SETTLING);
        if (again === Infinity) await this.#queue.unschedule(tx, association);
        else await this.#queue.schedule(tx, association, new Date(again), tried);
      }
      if (failure && task.destination.purge) await this.#notePurgeError(records, task.destination, failure);
      return undefined;
    });
    if (gone !== undefined) this.#sessions.forget(gone);
  }

  /** Lets go of the names that the association had and has no use for any more. */
  async #releaseNames(records: Records, { association, destination, limits }: Task, kept: readonly string[]): Promise<void> {
    const keep = new Set(kept.map((name) => nameId(destination.id, name, limits.name)));
    for (const name of new Set([...association.remotes.map((remote) => remote.name), ...association.claimed])) {
      const claim = nameId(destination.id, name, limits.name);
      if (!keep.has(claim) && (await nameOwnerIn(records, claim)) === idOf(association)) await records.names.delete(claim);
    }
  }

  /** Nothing of it is left outside. Resolves with the destination's id if that went with it. */
  async #forget(
    tx: Transaction,
    records: Records,
    association: AssociationRecord,
    destination: DestinationRecord,
  ): Promise<string | undefined> {
    await forgetAssociation(records, association);
    await this.#queue.unschedule(tx, association);
    const current = await records.destinations.get(association.place);
    if (current?.id !== destination.id || !current.purge) return undefined;
    const others = await records.associations.list({ prefix: `${destination.id}/`, limit: 1 });
    if (others.length > 0) {
      // The last one is gone by whichever run commits last: each depends on the destination's record.
      await records.destinations.put(association.place, current);
      return undefined;
    }
    await forgetDestination(tx, association.place);
    return destination.id;
  }

  async #notePurgeError(records: Records, destination: DestinationRecord, failure: Failure): Promise<void> {
    const place = `${destination.type}/${destination.name}`;
    const current = await records.destinations.get(place);
    if (current?.purge) await records.destinations.put(place, { ...current, purge: { ...current.purge, error: failure.error.message } });
  }
}

/** Takes an association and its entry in the index of secrets away. The names are let go of apart. */
export async function forgetAssociation(records: Records, association: AssociationRecord): Promise<void> {
  const id = idOf(association);
  await records.associations.delete(id);
  await records.pending.delete(id);
  const secret = secretId(association.mount, association.secret_name);
  const followed = (await records.followed.get(secret))?.associations.filter((other) => other !== id) ?? [];
  if (followed.length > 0) await records.followed.put(secret, { associations: followed });
  else await records.followed.delete(secret);
}

function reportRun(tx: Transaction, { association, destination: { type, name } }: Task, done: boolean): void {
  const paths = [`destinations/${type}/${name}/associations`, `destinations/${type}/${name}`];
  tx.report({ kind: done ? 'sync.done' : 'sync.failed', name: association.secret_name, paths });
}

/** Whether the destination was written since: what failed with its old settings is tried with the new ones at once. */
async function hasBeenWritten(records: Records, { id, generation, type, name }: DestinationRecord): Promise<boolean> {
  const current = await records.destinations.get(placeOf({ type, name }));
  return current?.id === id && current.generation > generation;
}

const SOURCE_UNKNOWN: Failure = {
  status: 'INTERNAL_VAULT_ERROR',
  error: { message: 'the secrets engine of this mount does not run, so its secrets cannot be read', code: 'source_unavailable' },
};

/** The remote with the intent to write it, if it is to be written or at least looked at. */
function intending(remote: RemoteRecord, wanted: Wanted | undefined, verify: boolean, now: Date): RemoteRecord {
  if (remote.leaving || !wanted) return remote;
  if (!verify && !remote.writing && remote.fingerprint === wanted.fingerprint) return remote;
  const same = remote.writing?.fingerprint === wanted.fingerprint;
  const writing = {
    operation: same ? remote.writing!.operation : randomUUID(),
    fingerprint: wanted.fingerprint,
    since: remote.writing?.since ?? now.toISOString(),
  };
  return { ...remote, writing };
}

function written(
  { writing: _done, last_error: _gone, ...remote }: RemoteRecord,
  found: { readonly identity?: string; readonly revision?: string },
  wanted: Wanted,
  now: string,
): RemoteRecord {
  return {
    ...remote,
    status: 'SYNCED',
    updated_at: now,
    fingerprint: wanted.fingerprint,
    ...(found.identity === undefined ? {} : { identity: found.identity }),
    ...(found.revision === undefined ? {} : { revision: found.revision }),
  };
}

/** Whether one secret outside takes the place of another, and so must stand before that one goes: another name, or another granularity. */
function takesOver(old: RemoteRecord, other: RemoteRecord): boolean {
  return old.key === other.key || (old.key === '') !== (other.key === '');
}

const isSynced = ({ status, writing, leaving }: RemoteRecord): boolean => status === 'SYNCED' && !writing && !leaving;
