/** When the circuit breaker of an outside system opens, and for how long. Milliseconds. */
export interface CircuitSettings {
  /** Opens after this many failures in a row; 0 means never. Default 5. */
  readonly threshold?: number;
  /** For how long it opens at first. Doubles with every failed trial. Default 5 s. */
  readonly pause?: number;
  /** Default 60 s. */
  readonly longestPause?: number;
}

/** The state of a circuit breaker. */
export interface CircuitStatus {
  /** `open`: calls fail at once. `half-open`: the pause is over, and the next call is the trial. */
  readonly state: 'closed' | 'open' | 'half-open';
  /** Failures in a row. */
  readonly failures: number;
  /** When it opened or, while it is closed, when calls began to fail. Absent without a failure. */
  readonly since?: Date;
  /** When the next call is allowed. Absent if all calls are. */
  readonly nextTry?: Date;
}

/**
 * The circuit breaker of one outside system. After several failures in a row it opens: all calls fail at once for a while, then one call is allowed as a
 * trial. Requests and background work share it; its target is the one that leases, intents and schedules of the engine name.
 */
export interface Circuit {
  /** Returns if a call is allowed now. @throws Unavailable with Retry-After */
  check(): void;
  /**
   * Makes a call. An UpstreamFailed that is not `answered` counts as a failure, and so does anything that is not an EngineError. `signal` is the signal
   * that the engine received: if it belongs to background work on the same target, the outcome of that work counts instead, and the call is allowed.
   * @throws Unavailable with Retry-After while the circuit breaker is open
   */
  call<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** Whether the signal belongs to background work on this system. */
  isBackground(signal: AbortSignal): boolean;
  /** Takes effect at once, for background work too. */
  configure(settings: CircuitSettings): void;
  status(): CircuitStatus;
  /** Closes the circuit breaker and forgets the failures, because settings changed or an operator asked for it. */
  reset(): void;
}
