/** What a server that emulates a provider shall do wrong, once unless `times` says more. */
export interface Fault {
  /** The HTTP status, or the gRPC code's name where the provider speaks gRPC (`RESOURCE_EXHAUSTED`). */
  readonly status?: number | string;
  /** The provider's own error code, put where the provider puts it. */
  readonly code?: string;
  readonly message?: string;
  /** Seconds to wait, in the provider's form. */
  readonly retryAfter?: number;
  /**
   * `request`: the connection is cut before anything is done. `answer`: the work is done, and the connection cut instead of an answer, as in
   * a crash of the network at the worst moment.
   */
  readonly drop?: 'request' | 'answer';
  /** The call is never answered; it ends when the caller gives up or the server stops. */
  readonly hang?: boolean;
  /** Only calls whose line (`PUT /secrets/a`, or the gRPC method's name) contains this. */
  readonly on?: string;
  /** How many calls fail; 1 by default, `Infinity` until `forget`. */
  readonly times?: number;
}

/** One call as it was answered. Bodies and query values are not kept: they may hold secrets. */
export interface RecordedCall {
  readonly method: string;
  readonly path: string;
  /** The HTTP status, or the gRPC code; `dropped` where the connection was cut, `hanging` where nothing came. */
  readonly status: number | 'dropped' | 'hanging';
  /** The provider's request id, where the answer carried one. */
  readonly requestId?: string;
}

/** The faults that wait and the calls that were answered, of one server. */
export class CallLog {
  readonly calls: RecordedCall[] = [];
  #faults: { readonly fault: Fault; left: number }[] = [];

  /** The next matching calls fail. Faults wait in the order they were given. */
  fail(fault: Fault): void {
    this.#faults.push({ fault, left: fault.times ?? 1 });
  }

  /** No fault waits any more. */
  heal(): void {
    this.#faults = [];
  }

  /** No fault waits any more, and no call is remembered. */
  reset(): void {
    this.heal();
    this.calls.length = 0;
  }

  record(call: RecordedCall): void {
    this.calls.push(call);
  }

  /** The fault that this call meets. It is used up by asking. */
  take(line: string): Fault | undefined {
    const waiting = this.#faults.find(({ fault }) => fault.on === undefined || line.includes(fault.on));
    if (waiting === undefined) return undefined;
    waiting.left -= 1;
    if (waiting.left <= 0) this.#faults = this.#faults.filter((one) => one !== waiting);
    return waiting.fault;
  }
}
