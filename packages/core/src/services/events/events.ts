import type { Clock, Log } from '@strongroom/engine-sdk';
import type { StoreTransaction } from '../../kernel/storage/store.ts';
import type { CoreEvent, NewEvent } from './core-event.ts';

/** Hears of an event of this process. */
export type EventListener = (event: CoreEvent) => void;

/** What happens on this server, told to those who count it and those who pass it on. An event that nobody listens for costs next to nothing. */
export class Events {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #listeners = new Set<EventListener>();

  constructor(parts: { clock: Clock; log: Log }) {
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  /** It has happened: what is stored of it is durable. Never throws. */
  publish(event: NewEvent): void {
    const timed: CoreEvent = { ...event, time: this.#clock.millis() };
    for (const listener of this.#listeners) {
      try {
        listener(timed);
      } catch (error) {
        this.#log.error('an event could not be processed', { kind: event.kind, error: String(error) });
      }
    }
  }

  /** It happens in this transaction: published once that is committed. */
  within(tx: Pick<StoreTransaction, 'afterwards'>, event: NewEvent): void {
    tx.afterwards(() => this.publish(event));
  }

  /** Listens from now on; the result ends that. */
  listen(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
