import { createHash } from 'node:crypto';
import { EngineError, TooManyRequests, Unavailable, type Clock, type StreamedBody } from '@strongroom/engine-sdk';
import { StorageFailure } from '@strongroom/storage-sdk';
import { BarrierSealed, type Barrier } from '../../kernel/barrier/barrier.ts';
import type { Copies } from '../../kernel/storage/copies.ts';
import type { TokenAccess } from '../caller/token-access.ts';
import type { CoreEvent } from '../events/core-event.ts';
import type { EventLog, LogEntry } from '../events/event-log.ts';
import type { Position } from '../events/position.ts';
import type { Acl } from '../policies/acl.ts';
import type { TokenStore } from '../tokens/token-store.ts';
import { matches, type EventFilter } from './event-filter.ts';
import { EventQueue } from './event-queue.ts';
import type { EventView } from './event-view.ts';
import { openedPosition, sealedPosition } from './sealed-position.ts';

/** Streams of one token, and of one server. */
const OF_TOKEN = 4;
const OF_SERVER = 1_000;
/** Milliseconds between two looks at the token, and how many of them make a ping. */
const LOOK = 5_000;
const LOOKS = 3;
/** Milliseconds after which a client is asked to come back. */
const COME_BACK = 2_000;

/** A caller who wants to follow events. */
export interface Subscriber {
  readonly token: string;
  readonly remoteAddress: string;
  /** The path that must stay readable. */
  readonly path: string;
  readonly filter: EventFilter;
  /** `Last-Event-ID`; absent: from now on. */
  readonly cursor?: string;
}

interface Parts {
  readonly clock: Clock;
  readonly barrier: Pick<Barrier, 'ring'>;
  readonly copies: Pick<Copies, 'problem'>;
  readonly tokens: Pick<TokenStore, 'find'>;
  readonly access: Pick<TokenAccess, 'aclOfToken'>;
  readonly log: EventLog;
  readonly view: EventView;
  /** Id of this server. */
  readonly node: string;
}

/** Why a stream ends before its caller ends it. */
class StreamEnds extends Error {}

/**
 * Events as `text/event-stream`, for each caller what its policies let it see at that moment. A stream ends with its token, when the policies take the path
 * away, and when the caller takes too little of it.
 */
export class EventStreams {
  readonly #parts: Parts;
  /** How many streams are open, by digest of the token. */
  readonly #open = new Map<string, number>();
  #total = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws TooManyRequests, Unavailable where there is no room for another stream */
  open(subscriber: Subscriber): StreamedBody {
    const key = createHash('sha256').update(subscriber.token).digest('base64');
    if ((this.#open.get(key) ?? 0) >= OF_TOKEN) {
      const text = `this token has ${OF_TOKEN} streams open, which is as many as it may have; end one of them`;
      throw new TooManyRequests(text, { headers: { 'Retry-After': '15' } });
    }
    if (this.#total >= OF_SERVER)
      throw new Unavailable(`this server has ${OF_SERVER} streams open, which is as many as it may have`, {
        headers: { 'Retry-After': '15' },
      });
    return { contentType: 'text/event-stream', open: (signal) => this.#counted(key, subscriber, signal) };
  }

  async *#counted(key: string, subscriber: Subscriber, signal: AbortSignal): AsyncGenerator<string> {
    // Several may have been let in at one moment.
    if ((this.#open.get(key) ?? 0) >= OF_TOKEN || this.#total >= OF_SERVER) {
      yield this.#end('too many streams are open');
      return;
    }
    this.#open.set(key, (this.#open.get(key) ?? 0) + 1);
    this.#total += 1;
    try {
      yield* this.#stream(subscriber, signal);
    } finally {
      this.#total -= 1;
      const left = this.#open.get(key)! - 1;
      if (left === 0) this.#open.delete(key);
      else this.#open.set(key, left);
    }
  }

  async *#stream(subscriber: Subscriber, signal: AbortSignal): AsyncGenerator<string> {
    const { log, clock, node } = this.#parts;
    const queue = new EventQueue();
    const position = new Map<string, number>();
    const unlisten = log.listen(queue.add);
    const wake = (): void => queue.wake();
    signal.addEventListener('abort', wake, { once: true });
    let looks = 0;
    let cancel = (): void => undefined;
    const look = (): void => {
      cancel = clock.after(LOOK, () => {
        looks += 1;
        wake();
        look();
      });
    };
    look();
    try {
      const missed = this.#begin(subscriber.cursor, position);
      yield `retry: ${COME_BACK}\n${this.#message(position, 'ready', { node })}`;
      if (!missed) yield this.#message(position, 'reset', { reason: 'the position is not known here any more, so events may be missing' });
      else yield await this.#messages(subscriber, position, missed);
      while (!signal.aborted) {
        const entries = queue.take();
        const text = entries.length > 0 || looks > 0 ? await this.#messages(subscriber, position, entries) : '';
        if (text !== '') yield text;
        if (queue.overflowed) throw new StreamEnds('the events were not taken fast enough');
        if (looks >= LOOKS) {
          looks = 0;
          yield `: ping\n${this.#id(position)}\n\n`;
        }
        if (!signal.aborted) await queue.wait();
      }
      yield this.#end((signal.reason as Error).message);
    } catch (error) {
      if (error instanceof BarrierSealed) yield this.#end('Vault is sealed');
      else if (error instanceof StreamEnds) yield this.#end(error.message);
      else throw error;
    } finally {
      unlisten();
      cancel();
      signal.removeEventListener('abort', wake);
    }
  }

  /** What the caller has missed, undefined where that is not known. Sets the position. */
  #begin(cursor: string | undefined, position: Map<string, number>): LogEntry[] | undefined {
    const { log, barrier } = this.#parts;
    const known: Position | undefined = cursor === undefined ? log.position : openedPosition(barrier.ring, cursor);
    const missed = known && log.since(known);
    for (const [life, number] of missed ? known : log.position) position.set(life, number);
    return missed;
  }

  /** What the caller may see of them, as text. @throws StreamEnds where it may follow no more */
  async #messages(subscriber: Subscriber, position: Map<string, number>, entries: readonly LogEntry[]): Promise<string> {
    const viewer = await this.#viewer(subscriber);
    let text = '';
    for (const { life, number, event } of entries) {
      if (number <= (position.get(life) ?? 0)) continue;
      position.set(life, number);
      text += event
        ? this.#shown(event, viewer, subscriber, position)
        : this.#message(position, 'reset', { reason: 'a server ended, or there was too much, so events may be missing' });
    }
    return text;
  }

  #shown(event: CoreEvent, viewer: { readonly acl: Acl; readonly token: string }, { filter }: Subscriber, position: Position): string {
    const shown = this.#parts.view.of(event, viewer);
    return shown && matches(filter, shown) ? this.#message(position, shown.kind, shown) : '';
  }

  /** The caller as it is now. @throws StreamEnds */
  async #viewer({ token, remoteAddress, path }: Subscriber): Promise<{ readonly acl: Acl; readonly token: string }> {
    const { copies, tokens, access } = this.#parts;
    const problem = copies.problem();
    if (problem !== undefined) throw new StreamEnds(problem);
    try {
      const found = await tokens.find(token);
      const acl = found && (found.record.num_uses ?? 0) >= 0 ? await access.aclOfToken(token, remoteAddress) : undefined;
      if (!found || !acl) throw new StreamEnds('the token has ended');
      if (!acl.check({ operation: 'read', path }).allowed) throw new StreamEnds(`the policies of the token do not allow ${path} any more`);
      return { acl, token: found.digest };
    } catch (error) {
      if (error instanceof BarrierSealed) throw new StreamEnds('Vault is sealed');
      if (error instanceof EngineError || error instanceof StorageFailure) throw new StreamEnds(error.message);
      throw error;
    }
  }

  #message(position: Position, kind: string, data: object): string {
    return `${this.#id(position)}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  /** Without a position: that of the last event stands. */
  #end(reason: string): string {
    return `event: end\ndata: ${JSON.stringify({ reason })}\n\n`;
  }

  /** Lives that are not known any more are left out: nobody can come back to them. */
  #id(position: Position): string {
    const { log, barrier } = this.#parts;
    return `id: ${sealedPosition(barrier.ring, new Map([...position].filter(([life]) => log.last(life) > 0)))}`;
  }
}
