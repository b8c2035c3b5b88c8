import { Unavailable, type Circuit, type CircuitStatus, type Clock, type LastFailure } from '@strongroom/engine-sdk';
import { USUAL_LIMITS, type ConnectionLimits } from './connection-limits.ts';

export interface QueueStatus {
  /** Calls that the plugin has been given and has not answered. */
  readonly under_way: number;
  /** Those among them that no connection of the pool is free for. */
  readonly waiting: number;
  readonly limit: number;
}

/** The bulkhead around one connection, over all its sessions: no more calls wait than its limits say, and none is made while its circuit breaker is open. */
export class Bulkhead {
  /** The last failure to reach the database, or of its plugin. */
  lastError: LastFailure | undefined;
  readonly #connection: string;
  readonly #circuit: Circuit;
  readonly #clock: Clock;
  #limits: ConnectionLimits = USUAL_LIMITS;
  #places = 0;
  #underWay = 0;

  constructor(connection: string, circuit: Circuit, clock: Clock) {
    this.#connection = connection;
    this.#circuit = circuit;
    this.#clock = clock;
  }

  get limits(): ConnectionLimits {
    return this.#limits;
  }

  configure(limits: ConnectionLimits | undefined): void {
    this.#limits = limits ?? USUAL_LIMITS;
    const { circuit_failures, circuit_pause } = this.#limits;
    this.#circuit.configure({ threshold: circuit_failures, pause: circuit_pause * 1_000 });
  }

  /** How many connections the pool of the session has; 0 where the plugin knows none. */
  opened(places: number): void {
    this.#places = places;
  }

  /** Passes where a call of a request would be made. @throws Unavailable with Retry-After */
  check(): void {
    this.#circuit.check();
    this.#refuseIfFull();
  }

  /** Background work is never refused for the length of the queue: the core lets little of it through at a time. */
  async call<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return this.#circuit.call(signal, async () => {
      if (!this.#circuit.isBackground(signal)) this.#refuseIfFull();
      this.#underWay += 1;
      try {
        return await work();
      } finally {
        this.#underWay -= 1;
      }
    });
  }

  failed(message: string): void {
    this.lastError = { message, at: this.#clock.millis() };
  }

  circuit(): CircuitStatus {
    return this.#circuit.status();
  }

  queue(): QueueStatus {
    return { under_way: this.#underWay, waiting: this.#waiting(), limit: this.#limits.queue_limit };
  }

  /** The settings were changed, or an operator knows better: the next call is made. */
  reset(): void {
    this.#circuit.reset();
  }

  #waiting(): number {
    return Math.max(0, this.#underWay - this.#places);
  }

  #refuseIfFull(): void {
    const waiting = this.#waiting();
    // A free place is no place in the queue.
    if (this.#underWay < this.#places || waiting < this.#limits.queue_limit) return;
    throw new Unavailable(`database "${this.#connection}": ${waiting} calls are waiting for a connection already; try again`, {
      headers: { 'Retry-After': '1' },
    });
  }
}
