import { setTimeout as delay } from 'node:timers/promises';
import type { StorageFailure, StorageLog } from '@strongroom/storage-sdk';
import type { Cluster } from './cluster.ts';
import type { Endpoint } from './endpoint.ts';
import { asFailure, isRefusal } from './failure.ts';
import { decodeState, encodeState, type History } from './history.ts';
import type { Layout } from './layout.ts';
import { firstOf, get, isAt, put, STATUS, TXN } from './wire.ts';
import type { Header, Op, OpResponse, StatusResponse, TxnRequest, TxnResponse } from './wire.ts';

/** How long one member may take for a small call before the next one is asked. */
export const ATTEMPT_MS = 1_500;
const PAUSE_MS = 50;

/** What a call of a transaction came to. */
export interface Read {
  readonly header: Header;
  readonly responses: readonly OpResponse[];
}

/** What was known when a call began. */
export interface Known {
  readonly epoch: number;
  readonly revision: number;
}

/** What a member says of itself, right after a read that it has answered. */
export interface Inspection {
  readonly header: Header;
  readonly status: StatusResponse;
  readonly head: number;
}

/** Calls of a store in a history that is known: each is judged before its answer counts. */
export class Session {
  readonly cluster: Cluster;
  readonly history: History;
  readonly layout: Layout;
  readonly patienceMs: number;
  readonly #log: StorageLog;
  #settling: Promise<void> | undefined;
  /** Why no member answered the last call that failed. */
  lastFailure: StorageFailure | undefined;

  constructor(parts: {
    readonly cluster: Cluster;
    readonly history: History;
    readonly layout: Layout;
    readonly patienceMs: number;
    readonly log: StorageLog;
  }) {
    this.cluster = parts.cluster;
    this.history = parts.history;
    this.layout = parts.layout;
    this.patienceMs = parts.patienceMs;
    this.#log = parts.log;
  }

  /** Reads the state, or stores a first one. @throws StorageFailure */
  async open(first: (cluster: string) => Buffer): Promise<void> {
    const { state } = this.layout;
    const { header, responses } = await this.#patiently(async (endpoint, millis) => {
      const { header: found } = await this.cluster.call(endpoint, TXN, { success: [get(state)] }, millis);
      const request = { compare: [isAt(state, 0)], success: [put(state, first(found.cluster_id)), get(state)], failure: [get(state)] };
      return this.cluster.call(endpoint, TXN, request, millis);
    });
    const known = decodeState(firstOf(responses.at(-1)));
    this.history.adopt(known, Number(header.revision));
    if (known.cluster !== header.cluster_id) await this.settle();
  }

  /**
   * One consistent state of the store. The operations are made again when the store turns out to be another.
   * @throws StorageFailure, transient where no member answers; and what gRPC throws where etcd refuses
   */
  async read(operations: () => readonly Op[], attemptMs = ATTEMPT_MS): Promise<Read> {
    return this.#patiently(async (endpoint, millis) => {
      await this.verify(endpoint, millis);
      for (;;) {
        const known = this.known;
        const request: TxnRequest = { success: [get(this.layout.state), ...operations()] };
        const { header, responses } = await this.cluster.call(endpoint, TXN, request, millis);
        if (await this.same(header, responses[0], known)) return { header, responses: responses.slice(1) };
      }
    }, attemptMs);
  }

  /** A transaction that may be repeated, of whatever history. @throws StorageFailure, and what gRPC throws where etcd refuses */
  async once(request: TxnRequest, attemptMs = ATTEMPT_MS): Promise<TxnResponse> {
    return this.#patiently(async (endpoint, millis) => this.cluster.call(endpoint, TXN, request, millis), attemptMs);
  }

  /** One try of a transaction that writes. @throws what gRPC throws: whether it has happened is for the caller to find out, unless it was refused */
  async write(endpoint: Endpoint, request: TxnRequest, millis: number): Promise<TxnResponse> {
    return this.cluster.call(endpoint, TXN, request, millis);
  }

  /** Reads what tells the history, of the member that is used. @throws StorageFailure, and what gRPC throws */
  async inspect(endpoint: Endpoint, millis: number): Promise<Inspection> {
    const { connection } = endpoint;
    for (;;) {
      const { known } = this;
      const { committed } = this.history;
      const { state, head } = this.layout;
      const { header, responses } = await this.cluster.call(
        endpoint,
        TXN,
        { success: [get(state), get(head, { keys_only: true })] },
        millis,
      );
      if (!(await this.same(header, responses[0], known))) continue;
      const status = await this.cluster.call(endpoint, STATUS, {}, millis);
      if (this.history.judgeLog(status, committed) !== 'same') {
        await this.settle();
        continue;
      }
      endpoint.verified = connection;
      return { header, status, head: Number(firstOf(responses[1])?.mod_revision ?? 0) };
    }
  }

  /** Makes the history that etcd is in the one that is known: one server moves the versions, the others find it done. @throws StorageFailure */
  settle(): Promise<void> {
    this.#settling ??= this.#settle().finally(() => (this.#settling = undefined));
    return this.#settling;
  }

  async #settle(): Promise<void> {
    const before = this.history.state;
    const { state: key } = this.layout;
    for (;;) {
      const read = async (endpoint: Endpoint, millis: number): Promise<TxnResponse> =>
        this.cluster.call(endpoint, TXN, { success: [get(key)] }, millis);
      const { header, responses } = await this.#patiently(read);
      const found = decodeState(firstOf(responses[0]));
      if (found.history > before.history && found.cluster === header.cluster_id) return this.history.adopt(found, Number(header.revision));
      const next = encodeState(this.history.successor(found, header.cluster_id));
      const request = { compare: [isAt(key, found.revision)], success: [put(key, next)] };
      await this.#patiently(async (endpoint, millis) => this.cluster.call(endpoint, TXN, request, millis));
    }
  }

  /** Calls one member after the other, until one answers. @throws StorageFailure, and what gRPC throws where etcd refuses */
  async #patiently<T>(call: (endpoint: Endpoint, millis: number) => Promise<T>, attemptMs = ATTEMPT_MS): Promise<T> {
    const end = performance.now() + Math.max(this.patienceMs, attemptMs);
    for (;;) {
      const endpoint = await this.cluster.chosen();
      try {
        const answer = await call(endpoint, Math.max(1, Math.min(attemptMs, end - performance.now())));
        this.lastFailure = undefined;
        return answer;
      } catch (error) {
        if (isRefusal(error)) throw error;
        this.cluster.leave(endpoint);
        if (performance.now() + PAUSE_MS >= end) throw (this.lastFailure = asFailure(error));
        await delay(PAUSE_MS);
      }
    }
  }

  /** Finds out where a connection leads that is new. @throws StorageFailure, and what gRPC throws */
  async verify(endpoint: Endpoint, millis: number): Promise<void> {
    if (endpoint.verified === endpoint.connection) return;
    await this.inspect(endpoint, millis);
  }

  /** What is known when a call begins, for `same`. */
  get known(): Known {
    return { epoch: this.history.epoch, revision: this.history.revision };
  }

  /** Whether an answer is of the store that was known when the call began. Otherwise the new one is known now, and the answer does not count. */
  async same(header: Header, state: OpResponse | undefined, known: Known): Promise<boolean> {
    if (this.history.epoch !== known.epoch) return false;
    const verdict = this.history.judge(header, firstOf(state), known.revision);
    if (verdict === 'same') return true;
    if (verdict === 'replaced') {
      const found = decodeState(firstOf(state));
      if (found.cluster === header.cluster_id) this.history.adopt(found, Number(header.revision));
      else await this.settle();
    } else await this.settle();
    return false;
  }

  warn(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#log.warn(message, fields);
  }
}
