import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { StorageFailure, type Change } from '@strongroom/storage-sdk';
import { brokenExpectation, conflictOf, nestedTxn } from './batch.ts';
import type { Endpoint } from './endpoint.ts';
import { asFailure, isRefusal, NAME } from './failure.ts';
import type { Layout } from './layout.ts';
import type { Session } from './session.ts';
import { firstOf, get, isAt, put, type Op, type TxnResponse } from './wire.ts';

/** How long a commit may take at one member before it is looked for at the next one; more for large ones. */
const ATTEMPT_MS = 2_000;
const ATTEMPT_MS_PER_MIB = 500;
const PAUSE_MS = 50;
/** Expected keys that are read in one transaction. */
const REPLAYED = 100;

const UNKNOWN = 'etcd was lost during the commit, and whether it happened cannot be found out';
const ANOTHER_HISTORY = "the store was replaced, or etcd's history has changed; nothing was written, and the same may succeed later";
const ANOTHER_PAST = 'etcd was restored to an earlier state during the commit, and whether it happened cannot be found out';

/** What became of the changes of a transaction. */
export interface Outcome {
  /** Of what was written. */
  readonly revision: number;
  /** For each change the key that was not as expected, or undefined. */
  readonly conflicts: readonly (string | undefined)[];
}

interface Marker {
  readonly key: Buffer;
  readonly revision: number;
  /** Of the history in which it is there. */
  readonly epoch: number;
}

/**
 * Commits one transaction after the other. Each moves a marker, and happens only while the marker is where the one before has left it. So, when an answer was
 * lost, another move of the marker either finds that the transaction has happened, or keeps it from happening later.
 */
export class Committer {
  readonly #session: Session;
  readonly #layout: Layout;
  readonly #origin: string;
  readonly #name: string;
  /** Where the marker is; undefined before the first transaction and after a change of history. */
  #marker: Marker | undefined;

  constructor(session: Session, layout: Layout, origin: string, name: string) {
    this.#session = session;
    this.#layout = layout;
    this.#origin = origin;
    this.#name = name;
  }

  /** All changes are of one epoch of the history. @throws StorageFailure, and what gRPC throws where etcd refuses the transaction */
  async commit(changes: readonly Change[], epoch: number, bytes: number): Promise<Outcome> {
    const { history } = this.#session;
    const end = performance.now() + this.#session.patienceMs;
    for (;;) {
      if (history.epoch !== epoch) throw new StorageFailure(NAME, ANOTHER_HISTORY, { transient: true });
      const endpoint = await this.#session.cluster.chosen();
      try {
        await this.#session.verify(endpoint, ATTEMPT_MS);
        if (history.epoch !== epoch) continue;
        const marker = (this.#marker = await this.#markerOf(endpoint, epoch));
        if (history.epoch !== epoch) continue;
        const outcome = await this.#try(endpoint, marker, changes, bytes, end);
        if (outcome) return outcome;
      } catch (error) {
        // Whatever has failed here has not written any of the changes.
        if (isRefusal(error)) throw error;
        this.#session.cluster.leave(endpoint);
        if (performance.now() >= end) throw asFailure(error);
        await delay(PAUSE_MS);
      }
    }
  }

  /** Keeps the marker from being removed as one of a process that is gone. */
  async touch(): Promise<void> {
    await this.commit([], this.#session.history.epoch, 0);
  }

  /** What is deleted when the driver closes. */
  get marker(): Buffer | undefined {
    return this.#marker?.key;
  }

  async #markerOf(endpoint: Endpoint, epoch: number): Promise<Marker> {
    if (this.#marker?.epoch === epoch) return this.#marker;
    // A key of its own each time: a late move of an earlier marker means nothing then.
    const key = this.#layout.marker(`${this.#origin}/${this.#name}/${randomUUID()}`);
    const { header } = await this.#session.write(endpoint, { success: [put(key, Buffer.from('new'))] }, ATTEMPT_MS);
    return { key, revision: Number(header.revision), epoch };
  }

  /** Undefined where nothing has happened, and the same may be tried again. @throws StorageFailure, and what gRPC throws where nothing has happened */
  async #try(endpoint: Endpoint, marker: Marker, changes: readonly Change[], bytes: number, end: number): Promise<Outcome | undefined> {
    const { history } = this.#session;
    const { state, head } = this.#layout;
    const id = randomUUID();
    const notifies = changes.some(({ notify }) => notify?.length);
    const nested = changes.map((change, i) => nestedTxn(change, i, `${this.#origin}/${this.#name}`, history, this.#layout));
    const request = {
      compare: [isAt(state, history.state.revision), isAt(marker.key, marker.revision)],
      success: [put(marker.key, Buffer.from(id)), ...(notifies ? [put(head, Buffer.from(id))] : []), ...nested],
      failure: [get(state), get(marker.key)],
    };
    const { known } = this.#session;
    let response: TxnResponse;
    try {
      response = await this.#session.write(endpoint, request, ATTEMPT_MS + (bytes / 2 ** 20) * ATTEMPT_MS_PER_MIB);
    } catch (error) {
      if (isRefusal(error)) throw error;
      this.#session.cluster.leave(endpoint);
      return this.#find(marker, id, changes, end);
    }
    if (response.succeeded) return this.#done(marker, response, changes, known.revision, notifies ? 2 : 1);
    this.#marker = undefined;
    // The state was another one, or the marker is gone: then this process was presumed dead, and may have missed what others wrote.
    if (await this.#session.same(response.header, response.responses[0], known)) history.doubt();
    return undefined;
  }

  async #done(
    { key, epoch }: Marker,
    { header, responses }: TxnResponse,
    changes: readonly Change[],
    floor: number,
    own: number,
  ): Promise<Outcome> {
    const { history } = this.#session;
    const revision = Number(header.revision);
    if (header.cluster_id !== history.state.cluster || revision <= floor) {
      await this.#session.settle();
      throw new StorageFailure(NAME, ANOTHER_PAST);
    }
    this.#marker = { key, revision, epoch };
    if (history.epoch === epoch) history.revision = Math.max(history.revision, revision);
    return { revision, conflicts: changes.map((change, i) => conflictOf(change, responses[i + own]?.response_txn, history)) };
  }

  /** After a lost answer: whether it happened. Moves the marker, so that it cannot happen later. @throws StorageFailure where nobody can tell */
  async #find(marker: Marker, id: string, changes: readonly Change[], end: number): Promise<Outcome | undefined> {
    const { history } = this.#session;
    const fence = `not ${id}`;
    const request = {
      compare: [isAt(marker.key, marker.revision)],
      success: [put(marker.key, Buffer.from(fence))],
      failure: [get(marker.key)],
    };
    this.#marker = undefined;
    for (const until = end + this.#session.patienceMs; performance.now() < until; await delay(PAUSE_MS)) {
      const current = await this.#session.cluster.chosen();
      try {
        const { header, succeeded, responses } = await this.#session.write(current, request, ATTEMPT_MS);
        if (header.cluster_id !== history.state.cluster || history.epoch !== marker.epoch) break;
        if (succeeded) {
          this.#marker = { ...marker, revision: Number(header.revision) };
          return undefined;
        }
        const found = firstOf(responses[0]);
        if (!found) break;
        const revision = Number(found.mod_revision);
        this.#marker = { ...marker, revision };
        if (found.value?.toString() === fence) return undefined;
        return await this.#replay(changes, revision);
      } catch (error) {
        if (isRefusal(error)) break;
        this.#session.cluster.leave(current);
      }
    }
    throw new StorageFailure(NAME, UNKNOWN);
  }

  /** A transaction that happened at a revision found what was there one revision earlier: its answer can be worked out. */
  async #replay(changes: readonly Change[], revision: number): Promise<Outcome> {
    const { history } = this.#session;
    const { generation } = history.state;
    const keys = changes.flatMap(({ expect = [] }) => expect.map(({ key }) => key));
    const found: number[] = [];
    for (let at = 0; at < keys.length; at += REPLAYED) {
      const part = keys.slice(at, at + REPLAYED);
      const operations = (): Op[] =>
        part.map((key) => get(this.#layout.entry(generation, key), { revision: revision - 1, keys_only: true }));
      const { responses } = await this.#session.read(operations);
      for (const response of responses) found.push(Number(firstOf(response)?.mod_revision ?? 0));
    }
    return {
      revision,
      conflicts: changes.map((change) => brokenExpectation(change, found.splice(0, change.expect?.length ?? 0), history)),
    };
  }
}
