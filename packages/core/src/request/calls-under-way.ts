import type { Call } from './call.ts';

/** The calls that have not been answered yet, for operators who wonder what keeps the server busy. */
export class CallsUnderWay {
  readonly #calls = new Set<Call>();

  begin(call: Call): void {
    this.#calls.add(call);
  }

  end(call: Call): void {
    this.#calls.delete(call);
  }

  [Symbol.iterator](): Iterator<Call> {
    return this.#calls.values();
  }
}
