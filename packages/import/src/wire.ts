/** An answer of a server, as it came. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  /** Seconds of the header Retry-After, where there was one. */
  readonly retryAfter?: number | undefined;
}

export interface WireOptions {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The call is about the server itself, whatever namespace is read. */
  readonly ofServer?: boolean;
}

/** Carries one call to one server. `path` is below `/v1/` and not encoded. @throws Error with a sentence for people when no answer comes */
export interface Wire {
  send(method: 'GET' | 'PUT' | 'DELETE', path: string, options?: WireOptions): Promise<Reply>;
}
