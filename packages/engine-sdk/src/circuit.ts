/** When the circuit breaker of an outside system opens, and for how long. Milliseconds. */
export interface CircuitSettings {
  /** After this many failures in a row; 0 for never. Default 5. */
  readonly threshold?: number;
  /** For how long at first; it doubles with every failed trial. Default 5 s. */
  readonly pause?: number;
  /** Default 60 s. */
  readonly longestPause?: number;
}

/** The state of a circuit breaker. */
export interface CircuitStatus {
  /** `open`: calls fail at once. `half-open`: the pause is over, and the next call is the trial. */
  readonly state: 'closed' | 'open' | 'half-open';
  /** In a row. */
  readonly failures: number;
  /** Since when it is open; where it is closed, since when calls fail. Absent without a failure. */
  readonly since?: Date;
  /** When the next call is let through; absent where all are. */
  readonly nextTry?: Date;
}

/**
 * The way to one outside system: after some failures in a row all calls fail at once for a while, and then one is let through to see. Requests
 * and background work share it: what the engine names as a target of its leases, intents and schedules is the same system here.
 */
export interface Circuit {
  /** Passes where a call would be let through. @throws Unavailable with Retry-After */
  check(): void;
  /**
   * Makes a call. An UpstreamFailed that is not `answered`, and what is no EngineError, counts as failure. `signal` is the one that the engine was
   * given: where it belongs to background work on the same target, that work counts, and its calls are let through.
   * @throws Unavailable with Retry-After while the circuit breaker is open
   */
  call<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** Whether the signal belongs to background work on this system. */
  isBackground(signal: AbortSignal): boolean;
  /** From now on, for background work too. */
  configure(settings: CircuitSettings): void;
  status(): CircuitStatus;
  /** Forgets the failures: the settings were changed, or an operator knows better. */
  reset(): void;
}
