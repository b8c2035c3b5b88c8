import type { Static, TObject, TProperties } from 'typebox';
import type { IssuedAuth } from './auth.ts';
import type { IssuedSecret } from './secret-type.ts';
import type { StorageView } from './storage-view.ts';

/** What a request does. A write is `create` or `update`, by whether its record exists. */
export type Operation = 'create' | 'read' | 'update' | 'patch' | 'delete' | 'list' | 'scan';

/** The caller. On unauthenticated paths everything except the address is empty. */
export interface Caller {
  readonly displayName: string;
  readonly entityId: string;
  readonly policies: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** A digest of the token, which does not change during its life; '' without a token. Never the token itself. */
  readonly tokenDigest: string;
  readonly accessor: string;
  readonly remoteAddress: string;
  /**
   * The certificates that the caller has shown, in DER: its own first, then what it sent of the path above it. The caller has the key of the first; nobody has
   * verified the path. Empty or absent if there are none.
   */
  readonly certificates?: readonly Uint8Array[];
  /** Whether the caller's policies grant `sudo` on this path. False on unauthenticated paths. */
  readonly sudo: boolean;
}

/** A request, as the handler of a path gets it. */
export interface EngineRequest<F extends TProperties = TProperties> {
  readonly id: string;
  /** Create and update are already distinguished by the existence check of the path. */
  readonly operation: Operation;
  /** The path below the mount in canonical form: names are folded where they fold, and only the path of a list ends in a slash. */
  readonly path: string;
  /** The captures of the path as the caller sent them; `data` has their canonical form. Only for texts that people read. */
  readonly verbatim: Readonly<Record<string, string>>;
  /** Decoded: `"1h"` is 3600, `"a,b"` is ['a', 'b']. */
  readonly data: Static<TObject<F>>;
  /** The names of the fields that the caller sent, for partial updates. */
  readonly supplied: ReadonlySet<keyof F & string>;
  /** The body (or query) as sent, for paths that take arbitrary data. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly storage: StorageView;
  readonly caller: Caller;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Aborted at the deadline of the request, when the caller disconnects, the mount is being removed, or the server is sealed. Its reason becomes the response. */
  readonly signal: AbortSignal;
  /**
   * For logins: runs `work`, which checks a password, under the lockout of this name in addition to the name that the caller sent. For people who are found
   * under one name and known by another. A success clears the failures of the name only if `theirs` confirms that the name belongs to the person who
   * logged in. Absent if nothing is counted; then the work runs alone.
   * @throws TokenRefused while the name is locked, and what the work throws
   */
  readonly countAs?: <T>(name: string, work: () => Promise<T>, theirs: (result: T) => boolean) => Promise<T>;
}

/** A body that was not decoded, with its media type. */
export interface RawBody {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/** A body that is sent as it comes about, until it ends or the caller leaves. */
export interface StreamedBody {
  readonly contentType: string;
  /**
   * The parts of the body, as the caller takes them. Called once, when the response has begun. `signal` is aborted when the caller has left, the server stops,
   * the mount is removed or the server is sealed: the body must end then. A throw cuts the connection off.
   */
  open(signal: AbortSignal): AsyncIterable<string | Uint8Array>;
  /** Called in place of `open` where nobody will read the body: the response is refused after all, or its caller has left. Resolves when what it holds is released; never rejects. */
  cancel?(): Promise<void>;
}

/** What a handler answers. */
export interface EngineResponse<D = unknown> {
  readonly data?: D | null;
  /** A credential with a lease; its values are in `data`. */
  readonly secret?: IssuedSecret;
  /** A login. */
  readonly auth?: IssuedAuth;
  /** The accessor of a credential in `data` that is not a token, such as a secret id. A wrapped response shows it as `wrapped_accessor`. */
  readonly accessor?: string;
  readonly warnings?: readonly string[];
  /** Only if it differs from 200 (or 404 with a body). */
  readonly status?: number;
  /** `lease_duration` of a response without a lease: a hint for how long to keep it, in seconds. */
  readonly leaseDuration?: number;
  /** Sent instead of the envelope. */
  readonly raw?: RawBody;
  /** Sent instead of the envelope, as it comes about. Cannot be wrapped. The deadline of the request holds until it begins. */
  readonly stream?: StreamedBody;
  /** Further response headers, such as the security policy of a page. */
  readonly headers?: Readonly<Record<string, string>>;
}
