/** The connections that this process holds to one outside system of a mount. */
export interface EnginePool {
  /** As leases, intents and schedules name the system. */
  readonly target: string;
  readonly open: number;
  readonly idle: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
  /** The most connections that may be open. */
  readonly limit: number;
}
