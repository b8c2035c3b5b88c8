import type { Operation, TraceSpan } from '@strongroom/engine-sdk';

/** What a caller may ask of a path; `help` and `header` (HEAD) never reach an engine. */
export type RequestOperation = Operation | 'help' | 'header';

/** What operators can do with their key shares alone, where a listener allows it: `sys/rekey/…` and `sys/rekey-recovery-key/…`, `sys/generate-root/…`. */
export type TokenlessCeremony = 'rekey' | 'generate-root';

/** A call, free of HTTP: the express adapter makes one of bytes, embedders and tests make one by hand. */
export interface CoreRequest {
  readonly operation: RequestOperation;
  /** Without `/v1/`; the path of a list or scan ends with a slash. */
  readonly path: string;
  /** The decoded body, or the query of a read, list, scan or delete. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The same data with the numbers that a 64-bit float does not return as `ExactNumber`; absent where there are none. */
  readonly exactData?: Readonly<Record<string, unknown>>;
  /** The body as it comes, of calls that take one so (`Core.streamsBody`): it is read by the operation alone, once the caller may. */
  readonly body?: AsyncIterable<Uint8Array>;
  readonly token?: string;
  /** Seconds, rounded up to whole ones and at most the system's maximum; 0 or absent asks for no wrapping. What is no finite number is refused. */
  readonly wrapTtl?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly remoteAddress?: string;
  readonly remotePort?: number;
  /** The certificates that the caller proved to own, in DER: its own first, then what it sent of the path above. Nobody has verified the path yet. */
  readonly certificates?: readonly Uint8Array[];
  /** What the listener lets callers without a token do with their key shares. Nothing by default. */
  readonly tokenless?: readonly TokenlessCeremony[];
  /** The span of the request, where its adapter has begun one: the core says in it what the request is. Without it, the core begins one. */
  readonly span?: TraceSpan;
  /** Aborted when the caller went away. */
  readonly signal?: AbortSignal;
  /** The same without a signal, which is dear to make: calls back once when the caller goes away, at once where it has, and returns the cancellation. */
  onGone?(listener: () => void): () => void;
}
