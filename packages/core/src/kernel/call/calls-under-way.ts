import { LinkedList, type ListEntry } from '@strongroom/engine-sdk';
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
  readonly #calls = new LinkedList<CallUnderWay>();

  get size(): number {
    return this.#calls.size;
  }

  /** What it returns is what `end` takes. */
  begin(call: CallUnderWay): ListEntry<CallUnderWay> {
    return this.#calls.add(call);
  }

  end(call: ListEntry<CallUnderWay>): void {
    this.#calls.remove(call);
  }

  [Symbol.iterator](): Iterator<CallUnderWay> {
    return this.#calls[Symbol.iterator]();
  }
}
