import type { Clock } from '@strongroom/engine-sdk';
import type { FromWorker, ToWorker } from './messages.ts';

/** A question that a worker asked, until all the others have answered, ended, or had their time. */
interface Question {
  readonly from: number;
  /** The asker's own number of it. */
  readonly id: number;
  readonly topic: string;
  readonly waiting: Set<number>;
  readonly values: unknown[];
  readonly cancel: () => void;
}

interface Turn {
  readonly worker: number;
  readonly id: number;
}

type Asked = Extract<FromWorker, { readonly kind: 'ask' | 'answer' | 'turn' | 'turn over' }>;

/** Connects the workers with each other: passes on questions and answers, and gives out turns. It keeps nothing of what it passes on. */
export class Switchboard {
  readonly #clock: Clock;
  readonly #own: ReadonlyMap<string, (message: never) => unknown>;
  readonly #workers = new Map<number, (message: ToWorker) => void>();
  readonly #questions = new Map<number, Question>();
  readonly #turns = new Map<string, Turn[]>();
  /** Workers that let the time of a question pass, with its topic. Such questions do not wait for them, until they say something. */
  readonly #late = new Map<number, Set<string>>();
  #last = 0;

  /** `own`: the topics that the supervisor has an answer to, beside the workers. */
  constructor(clock: Clock, own: ReadonlyMap<string, (message: never) => unknown> = new Map()) {
    this.#clock = clock;
    this.#own = own;
  }

  /** A worker hears questions from now on. */
  connect(worker: number, send: (message: ToWorker) => void): void {
    this.#workers.set(worker, send);
  }

  /** A worker has ended: nobody waits for it any more. */
  disconnect(worker: number): void {
    this.#workers.delete(worker);
    this.#late.delete(worker);
    for (const [id, question] of this.#questions) {
      if (question.from === worker) this.#drop(id, question);
      else this.#answered(id, worker);
    }
    for (const [name, turns] of this.#turns) {
      const left = turns.filter((turn) => turn.worker !== worker);
      this.#turns.set(name, left);
      if (left[0] !== turns[0]) this.#grant(left[0]);
    }
  }

  hear(worker: number, message: Asked): void {
    this.#late.delete(worker);
    switch (message.kind) {
      case 'ask':
        return this.#ask(worker, message);
      case 'answer':
        return this.#answered(message.id, worker, message.value);
      case 'turn':
        return this.#queue(message.name, { worker, id: message.id });
      case 'turn over':
        return this.#over(worker, message.id);
    }
  }

  #ask(from: number, { id, topic, message, within }: Extract<FromWorker, { readonly kind: 'ask' }>): void {
    const number = (this.#last += 1);
    const others = [...this.#workers.keys()].filter((worker) => worker !== from);
    const own = this.#own.get(topic);
    const values = own ? [own(message as never)] : [];
    const cancel = this.#clock.after(within, () => this.#timeIsUp(number));
    const waiting = new Set(others.filter((worker) => !this.#late.get(worker)?.has(topic)));
    this.#questions.set(number, { from, id, topic, waiting, values, cancel });
    for (const worker of others) this.#workers.get(worker)!({ kind: 'asked', id: number, topic, message });
    wipe(message);
    if (waiting.size === 0) this.#finish(number);
  }

  #answered(number: number, worker: number, value?: { readonly of: unknown }): void {
    const question = this.#questions.get(number);
    if (!question?.waiting.delete(worker)) return wipe(value);
    if (value) question.values.push(value.of);
    if (question.waiting.size === 0) this.#finish(number);
  }

  #timeIsUp(number: number): void {
    const { topic, waiting } = this.#questions.get(number)!;
    for (const worker of waiting) this.#late.set(worker, (this.#late.get(worker) ?? new Set()).add(topic));
    this.#finish(number);
  }

  #finish(number: number): void {
    const question = this.#questions.get(number);
    if (!question) return;
    const { from, id, values } = question;
    this.#workers.get(from)?.({ kind: 'answers', id, values });
    this.#drop(number, question);
  }

  #drop(number: number, { cancel, values }: Question): void {
    cancel();
    wipe(values);
    this.#questions.delete(number);
  }

  #queue(name: string, turn: Turn): void {
    const turns = this.#turns.get(name) ?? [];
    turns.push(turn);
    this.#turns.set(name, turns);
    if (turns.length === 1) this.#grant(turn);
  }

  #over(worker: number, id: number): void {
    for (const turns of this.#turns.values()) {
      if (turns[0]?.worker !== worker || turns[0].id !== id) continue;
      turns.shift();
      this.#grant(turns[0]);
    }
  }

  #grant(turn: Turn | undefined): void {
    if (turn) this.#workers.get(turn.worker)?.({ kind: 'your turn', id: turn.id });
  }
}

/** Overwrites bytes of a message that was passed on: some of them are keys. */
export function wipe(message: unknown): void {
  if (message instanceof Uint8Array) message.fill(0);
  else if (typeof message === 'object' && message !== null) for (const value of Object.values(message)) wipe(value);
}
