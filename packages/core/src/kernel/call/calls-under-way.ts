import type { RequestOperation } from './core-request.ts';

/** What operators see of a call that has not been answered yet. */
export interface CallUnderWay {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly began: number;
  readonly operation: RequestOperation;
  readonly path: string;
  readonly remoteAddress: string;
  /** Undefined until the caller is known, and for calls that need no token. */
  readonly identity: { readonly entityId: string } | undefined;
}

/** The calls that have not been answered yet, for operators who wonder what keeps the server busy. */
export class CallsUnderWay {
  readonly #calls = new Set<CallUnderWay>();

  get size(): number {
    return this.#calls.size;
  }

  begin(call: CallUnderWay): void {
    this.#calls.add(call);
  }

  end(call: CallUnderWay): void {
    this.#calls.delete(call);
  }

  [Symbol.iterator](): Iterator<CallUnderWay> {
    return this.#calls.values();
  }
}
