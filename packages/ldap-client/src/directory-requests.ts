/** Who a service connection is. An empty `dn` with an empty password is a connection that never binds. */
export interface ServiceBinding {
  readonly dn: string;
  readonly password: string;
  /** Lets an empty password with a name through, as RFC 4513's unauthenticated bind; refused otherwise. */
  readonly allowUnauthenticated?: boolean | undefined;
}

export interface ServiceOptions {
  signal?: AbortSignal | undefined;
  /** Lets the work run once more on a new connection when a kept one turns out to be dead. Only for work that may run twice. */
  idempotent?: boolean | undefined;
}

export interface VerifyOptions {
  signal?: AbortSignal | undefined;
  /** Lets an empty password through; refused with `EMPTY_PASSWORD` otherwise, before anything is sent. */
  allowUnauthenticated?: boolean | undefined;
  /** `server` of the user's `LdapEntry`: the password is sent there, and nowhere else. A server of the settings when absent. */
  server?: string | undefined;
  /** Told when a connection is at hand, right before the bind is sent on it; again when it turns out to be dead and another is taken. */
  onConnection?: (() => void) | undefined;
}
