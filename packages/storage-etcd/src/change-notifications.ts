import type { ClientDuplexStream } from '@grpc/grpc-js';
import { EVERYTHING, type ChangedKeys, type Staleness, type StorageLog } from '@strongroom/storage-sdk';
import type { Endpoint } from './endpoint.ts';
import { asFailure } from './failure.ts';
import type { ReadingClock } from './options.ts';
import type { Inspection, Session } from './session.ts';
import type { StatusResponse, WatchRequest, WatchResponse } from './wire.ts';

const LOOK_EVERY_MS = 1_000;
const LOOK_MS = 1_500;
/** How long the notifications may be behind what a look has found before another member is watched. */
const BEHIND_MS = 1_500;

type Stream = ClientDuplexStream<WatchRequest, WatchResponse>;

/**
 * Hears the change notifications of other processes by a watch, from revision to revision. Every second it looks at the store itself: the head of the
 * notifications tells up to where there are some, so a watch that is silent for no good reason is found out, and starts again elsewhere.
 */
export class ChangeNotifications {
  readonly #session: Session;
  readonly #origin: string;
  readonly #heard: (changed: ChangedKeys) => void;
  readonly #looked: (status: StatusResponse) => void;
  readonly #log: StorageLog;
  readonly #clock: ReadingClock | undefined;
  #stream: { readonly stream: Stream; readonly endpoint: Endpoint; readonly began: number } | undefined;
  /** Notifications up to here have been heard, in that epoch of the history. */
  #position = { revision: 0, epoch: 0 };
  /** What a look has found that is still to come. */
  #awaited: { readonly head: number; readonly began: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;
  /** Monotonic: when the last look began whose notifications have all been heard. */
  #readAt = performance.now();
  #failure: string | undefined;

  constructor(parts: {
    readonly session: Session;
    readonly origin: string;
    readonly heard: (changed: ChangedKeys) => void;
    /** Hears what the member says of itself at each look. */
    readonly looked: (status: StatusResponse) => void;
    readonly log: StorageLog;
    readonly clock: ReadingClock | undefined;
  }) {
    this.#session = parts.session;
    this.#origin = parts.origin;
    this.#heard = parts.heard;
    this.#looked = parts.looked;
    this.#log = parts.log;
    this.#clock = parts.clock;
  }

  /** Notifications from here on are delivered. @throws StorageFailure */
  async start(): Promise<void> {
    const endpoint = this.#session.cluster.current;
    const { header, status } = await this.#session.inspect(endpoint, LOOK_MS);
    this.#position = { revision: Number(header.revision), epoch: this.#session.history.epoch };
    this.#looked(status);
    await this.#watch();
    this.#later();
  }

  staleness(): Staleness {
    const millis = performance.now() - this.#readAt;
    if (millis < 2 * BEHIND_MS) return { millis };
    return { millis, reason: this.#failure ?? 'etcd delivers no notifications' };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#end();
    await this.#looking;
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined;
        if (!this.#closed) this.#later();
      });
    }, LOOK_EVERY_MS).unref();
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    if (this.#clock?.paused()) return this.#end();
    const began = performance.now();
    const endpoint = await this.#session.cluster.chosen();
    try {
      const inspection = await this.#session.inspect(endpoint, LOOK_MS);
      this.#looked(inspection.status);
      await this.#take(inspection, began);
    } catch (error) {
      this.#failure = asFailure(error).reason;
      this.#session.cluster.leave(endpoint);
    }
  }

  async #take({ header, head }: Inspection, began: number): Promise<void> {
    const { history } = this.#session;
    // Whoever found the new history has told everybody. What is written from now on is heard.
    if (this.#position.epoch !== history.epoch) this.#restart(Number(header.revision));
    if (head > this.#position.revision) this.#awaited ??= { head, began };
    else {
      // There are none up to this revision that are still to come: a watch that begins behind it misses nothing, however much is compacted.
      this.#position = { ...this.#position, revision: Math.max(this.#position.revision, Number(header.revision)) };
      this.#caughtUp(began);
    }
    const late = this.#awaited && performance.now() - this.#awaited.began > BEHIND_MS;
    if (late && this.#stream && performance.now() - this.#stream.began > BEHIND_MS) this.#end();
    if (!this.#stream) await this.#watch();
  }

  #caughtUp(began: number): void {
    this.#awaited = undefined;
    this.#readAt = Math.max(this.#readAt, began);
    this.#failure = undefined;
  }

  #restart(revision: number): void {
    this.#end();
    this.#awaited = undefined;
    this.#position = { revision, epoch: this.#session.history.epoch };
  }

  #end(): void {
    const ended = this.#stream;
    this.#stream = undefined;
    ended?.stream.cancel();
  }

  /** Begins behind what has been heard. @throws StorageFailure, and what gRPC throws */
  async #watch(): Promise<void> {
    const { cluster, layout } = this.#session;
    const endpoint = cluster.current;
    const token = await cluster.token(endpoint, LOOK_MS);
    if (this.#closed || this.#stream) return;
    const stream = endpoint.watch(token);
    const current = (this.#stream = { stream, endpoint, began: performance.now() });
    const lost = (error?: unknown): void => {
      if (this.#stream !== current) return;
      this.#stream = undefined;
      if (error !== undefined) this.#failure = asFailure(error).reason;
      cluster.forgetLogin();
    };
    stream.on('error', lost).on('end', () => lost());
    stream.on('data', (response: WatchResponse) => {
      if (this.#stream === current) this.#receive(response);
    });
    stream.write({
      create_request: {
        key: layout.changed.key,
        range_end: layout.changed.end,
        start_revision: this.#position.revision + 1,
        filters: ['NODELETE'],
      },
    });
  }

  #receive({ events, canceled, compact_revision: compacted, cancel_reason: reason }: WatchResponse): void {
    const { history, layout } = this.#session;
    if (this.#position.epoch !== history.epoch) return this.#end();
    if (canceled) {
      this.#end();
      if (Number(compacted ?? 0) > 0) void this.#missed();
      else this.#log.warn('etcd has ended the watch of change notifications', { reason });
      return;
    }
    for (const { kv } of events) {
      const origin = layout.originOf(kv.key);
      if (origin !== undefined && origin !== this.#origin && kv.value) this.#heard(keysOf(kv.value));
    }
    const last = events.at(-1);
    if (!last) return;
    this.#position = { ...this.#position, revision: Number(last.kv.mod_revision) };
    if (this.#awaited && this.#position.revision >= this.#awaited.head) this.#caughtUp(this.#awaited.began);
  }

  /** The notifications are gone. What is read from now on is newer than the revision that the next watch begins at. */
  async #missed(): Promise<void> {
    try {
      const { header } = await this.#session.read(() => []);
      this.#restart(Number(header.revision));
      this.#heard(EVERYTHING);
      await this.#watch();
    } catch (error) {
      // The next look begins a watch at the same place, which comes here again.
      this.#failure = asFailure(error).reason;
    }
  }
}

function keysOf(value: Buffer): ChangedKeys {
  try {
    const keys: unknown = JSON.parse(value.toString());
    if (Array.isArray(keys)) return keys as string[];
  } catch {
    // What cannot be read may mean anything.
  }
  return EVERYTHING;
}
