import type { Static, TObject, TProperties } from 'typebox';
import type { IssuedAuth } from './auth.ts';
import type { IssuedSecret } from './secret-type.ts';
import type { StorageView } from './storage-view.ts';

/** What a request does. A write is `create` or `update`, by whether its record exists. */
export type Operation = 'create' | 'read' | 'update' | 'patch' | 'delete' | 'list';

/** Who calls. On unauthenticated paths everything but the address is empty. */
export interface Caller {
  readonly displayName: string;
  readonly entityId: string;
  readonly policies: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** A digest of the token, stable for its life; '' without one. Never the token. */
  readonly tokenDigest: string;
  readonly accessor: string;
  readonly remoteAddress: string;
  /** Whether the caller's policies grant `sudo` on this path. False on unauthenticated paths. */
  readonly sudo: boolean;
}

/** A request, as the handler of a path gets it. */
export interface EngineRequest<F extends TProperties = TProperties> {
  readonly id: string;
  /** Create and update are already settled by the path's existence check. */
  readonly operation: Operation;
  /** Below the mount, canonical: names that fold are folded, and only a list's path ends in a slash. */
  readonly path: string;
  /** The captures of the path as the caller spelt them: `data` has them folded. Only for texts that people read. */
  readonly verbatim: Readonly<Record<string, string>>;
  /** Decoded: `"1h"` is 3600, `"a,b"` is ['a', 'b']. */
  readonly data: Static<TObject<F>>;
  /** What the caller really sent, by field name; drives partial updates. */
  readonly supplied: ReadonlySet<keyof F & string>;
  /** The body (or query) as sent, for paths that take arbitrary data. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly storage: StorageView;
  readonly caller: Caller;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Aborted at the request's deadline, when the caller went away, the mount is being removed or the server is sealed. Its reason is the answer. */
  readonly signal: AbortSignal;
  /**
   * Of a login: does the work, in which a password is checked, under the lockout of this name as well as under the one that the caller gave. For who
   * is found under one name and known by another. A success forgets the refusals of the name only where `theirs` says that it is the name of who has
   * logged in. Absent where nothing is counted: the work is done alone then.
   * @throws TokenRefused while the name is locked, and what the work throws
   */
  readonly countAs?: <T>(name: string, work: () => Promise<T>, theirs: (result: T) => boolean) => Promise<T>;
}

/** A body that was not decoded, with its media type. */
export interface RawBody {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/** What a handler answers. */
export interface EngineResponse<D = unknown> {
  readonly data?: D | null;
  /** A credential with a lease; its values are in `data`. */
  readonly secret?: IssuedSecret;
  /** A login. */
  readonly auth?: IssuedAuth;
  readonly warnings?: readonly string[];
  /** Only where it differs from 200 (or 404 with a body). */
  readonly status?: number;
  /** `lease_duration` of an answer that has no lease: a hint how long to keep it, in seconds. */
  readonly leaseDuration?: number;
  /** Sent instead of the envelope. */
  readonly raw?: RawBody;
}
