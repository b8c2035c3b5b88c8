import type { Siblings } from '@strongroom/core';
import type { Channel, FromWorker, ToWorker } from './messages.ts';

/** Milliseconds in which the others answer by default. */
const PATIENCE = 5_000;

/** What a worker gets to know about itself when it starts. */
export interface WorkerPlace {
  /** Of the server: the same for all its workers. */
  readonly server: string;
  /** From 1 on. */
  readonly number: number;
  /** How many processes have had that number, this one included. */
  readonly start: number;
  readonly configured: number;
}

/** The other workers, as a worker reaches them: by way of the supervisor. */
export class WorkerSiblings implements Siblings {
  readonly server: string;
  readonly number: number;
  readonly start: number;
  readonly configured: number;
  readonly #send: (message: FromWorker) => void;
  readonly #responders = new Map<string, (message: never) => unknown>();
  readonly #questions = new Map<number, (values: readonly never[]) => void>();
  readonly #turns = new Map<number, () => void>();
  #running: readonly number[] = [];
  #last = 0;

  constructor({ server, number, start, configured }: WorkerPlace, send: Channel<FromWorker, ToWorker>['send']) {
    this.server = server;
    this.number = number;
    this.start = start;
    this.configured = configured;
    this.#send = send;
  }

  get running(): number {
    return this.#running.length;
  }

  get first(): boolean {
    return this.#running[0] === this.number;
  }

  ask<Answer = unknown>(topic: string, message?: unknown, within = PATIENCE): Promise<readonly Answer[]> {
    const id = (this.#last += 1);
    return new Promise((resolve) => {
      this.#questions.set(id, resolve);
      this.#send({ kind: 'ask', id, topic, message, within });
    });
  }

  answer<Question = unknown>(topic: string, respond: (message: Question) => unknown): void {
    this.#responders.set(topic, respond);
  }

  async inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const id = (this.#last += 1);
    await new Promise<void>((resolve) => {
      this.#turns.set(id, resolve);
      this.#send({ kind: 'turn', id, name });
    });
    try {
      return await work();
    } finally {
      this.#send({ kind: 'turn over', id });
    }
  }

  /** What the supervisor says. */
  hear(message: Extract<ToWorker, { readonly kind: 'asked' | 'answers' | 'your turn' | 'running' }>): void {
    switch (message.kind) {
      case 'asked':
        return void this.#respond(message);
      case 'answers':
        this.#questions.get(message.id)?.(message.values as never[]);
        return void this.#questions.delete(message.id);
      case 'your turn':
        this.#turns.get(message.id)?.();
        return void this.#turns.delete(message.id);
      case 'running':
        this.#running = message.workers;
    }
  }

  async #respond({ id, topic, message }: Extract<ToWorker, { readonly kind: 'asked' }>): Promise<void> {
    const respond = this.#responders.get(topic);
    try {
      this.#send(respond ? { kind: 'answer', id, value: { of: await respond(message as never) } } : { kind: 'answer', id });
    } catch {
      this.#send({ kind: 'answer', id });
    }
  }
}
