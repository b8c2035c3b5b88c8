import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Answered } from './answer.ts';
import type { EngineRequest, EngineResponse } from './request.ts';
import type { StorageView } from './storage-view.ts';

type Bare<N extends string> = N extends `${infer B}:${string}` ? B : N;
/** The names of the captures in a pattern. */
export type Captures<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? Bare<N> | Captures<Rest> : never;

/** undefined: 204 on writes and deletes, 404 on reads and lists. */
export type Reply<R extends TSchema> = Promise<EngineResponse<Answered<Static<R>>> | undefined>;

/** One operation of a path: its words and its handler. */
export interface Op<F extends TProperties, R extends TSchema> {
  /** One line for help, OpenAPI and the reference. */
  readonly summary: string;
  /** What it answers: the shape of `data`, or `NoContent`, `IssuedToken`, `leased(…)`, `orNoContent(…)`, `rawAnswer(…)`. Clients and forms read it. */
  readonly response?: R;
  /**
   * What else it answers, by status: `{ 202: NoContent }` where work goes on after the answer, `{ 409: Refusal }`. A status that `response` has is not
   * repeated here, nor are refusals that every operation may answer, such as 400, 403 or 404. `default`: where its caller chooses the status.
   */
  readonly answers?: Readonly<Partial<Record<number | 'default', TSchema>>>;
  /** The media type of a body that is no object of fields, such as `application/gzip`. */
  readonly bodyType?: string;
  /**
   * The fields that it takes, in the query of a read or delete, in the body of a write. Default: a write takes all that no other operation of the path
   * names, a delete none; reads take all if nothing can be written to the path, and none otherwise. For documents: every operation is given every field.
   */
  readonly takes?: readonly (keyof F & string)[];
  /**
   * A secret of this operation is issued once per idempotency key, where a caller gives one (the header `Idempotency-Key`, or the parameter of
   * `idempotencyFields`): who repeats the call with it gets the same credential and lease while the lease lives. The core sees to that.
   */
  readonly oncePerKey?: boolean;
  /**
   * Of a list: searches by name walk it, and the folders in it, for callers who may list them. Its keys come from storage alone, it takes the parameters
   * `pageFields`, and it is a path without captures, or with `{…:all}` or `{…:path}` at its end. Lists of `namesPath` are searched.
   */
  readonly searched?: boolean;
  /** It may take longer than other requests have: it ends with its caller, the mount or the server. For what moves as much as there is, such as a backup. */
  readonly untimed?: boolean;
  handle(req: EngineRequest<F>): Reply<R>;
}

/** Who may call a path, where that is not decided by the policy alone. */
export type Access = 'sudo' | 'unauthenticated';

/** Where a login comes from. */
export interface LoginOrigin {
  readonly remoteAddress: string;
}

/** What the lockout counts the refusals of a login by. With `from`, refusals at one origin do not lock the name for another. */
export interface CountedLogin {
  readonly name: string;
  readonly from: string;
}

/** What the lockout counts a login by; a text is the name alone. */
export type LoginName = (data: Readonly<Record<string, unknown>>, origin: LoginOrigin) => string | CountedLogin;

/** What a path says of itself, and its fields. */
export interface About<F extends TProperties> {
  readonly synopsis: string;
  readonly description: string;
  /** `sudo`: the capability is needed in addition. `unauthenticated`: no token is asked for. */
  readonly access?: Access;
  /**
   * A login: unauthenticated, and counted by the lockout under the name that this returns. `uncounted`: its credentials cannot be guessed, and operators
   * cannot tune a lockout for the mount.
   */
  readonly login?: LoginName | 'uncounted';
  /**
   * The role that a login asks for, from its decoded fields: quotas by role count it. A path without it has no roles. Runs before anybody is authenticated, so
   * it must be cheap. A login whose fields cannot be decoded has no role.
   */
  readonly role?: (data: Readonly<Record<string, unknown>>, storage: StorageView) => string | undefined | Promise<string | undefined>;
  /** Keys that no field knows are the engine's business: no warning, and `req.raw` has them. */
  readonly arbitraryData?: boolean;
  /**
   * Numbers that a 64-bit float does not return (`12345678901234567890`, `1.0`) come as `ExactNumber` in `req.raw` and in fields of any value, and are
   * stored and answered with their digits. Without it they come as the nearest float, and those that no float is near are refused.
   */
  readonly exactNumbers?: boolean;
  /** What a write takes beside the fields, by the value of one of them, such as the parameters of each plugin. For forms and documents. */
  readonly variants?: { readonly by: string; schemas(): Readonly<Record<string, TObject>> };
  readonly fields: F;
}

/** The operations of a path. */
export interface Operations {
  read?: Op<TProperties, TSchema>;
  list?: Op<TProperties, TSchema>;
  scan?: Op<TProperties, TSchema>;
  delete?: Op<TProperties, TSchema>;
  patch?: Op<TProperties, TSchema>;
  update?: Op<TProperties, TSchema>;
  /** With it, a write to what is not there asks the policy for `create`. */
  exists?: (req: EngineRequest) => Promise<boolean>;
}

/** A declared path. Each method adds one operation and returns the path. */
export interface Path<F extends TProperties = TProperties> {
  readonly pattern: string;
  readonly about: About<F>;
  readonly operations: Operations;
  read<R extends TSchema>(op: Op<F, R>): this;
  list<R extends TSchema>(op: Op<F, R>): this;
  /** Lists everything below a folder, not one level of it. A capability of its own. */
  scan<R extends TSchema>(op: Op<F, R>): this;
  delete<R extends TSchema>(op: Op<F, R>): this;
  /** With `exists` the capability of a patch stays `patch`. */
  patch<R extends TSchema>(op: Op<F, R>): this;
  /** No existence check: the policy is always asked for `update`. */
  update<R extends TSchema>(op: Op<F, R>): this;
  /** Create and update are different capabilities; `exists` tells which one a write needs. */
  upsert<R extends TSchema>(op: Op<F, R> & { exists(req: EngineRequest<F>): Promise<boolean> }): this;
}

// A path of any fields, as engines hand them over: handlers are contravariant in F, so the narrow type does not fit the wide one.
/** A path of any fields. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyPath = Path<any>;

/**
 * Declares a path: routing, decoding, validation, types, help, OpenAPI and the reference docs all come from it.
 *
 * `{name}` takes one segment of letters, digits, `_`, `-` and `.` that begins and ends with a letter or digit;
 * `{name:at}` also takes `@`; `{name:any}` takes any one segment; `{name:path}` takes one or more segments of the kind that `{name}` takes, as few as the
 * rest of the pattern lets it; `{name:all}`, last in the pattern, takes everything that is left, slashes too. Static segments win over captures. A capture without a field does not compile.
 */
export function path<const P extends string, const F extends TProperties>(
  pattern: P,
  about: About<F & Record<Captures<P>, TSchema>>,
): Path<F> {
  return new DeclaredPath<F>(pattern, about);
}

/** A server with a thousand mounts has ten thousand of these. */
class DeclaredPath<F extends TProperties> implements Path<F> {
  readonly pattern: string;
  readonly about: About<F>;
  readonly operations: Operations = {};

  constructor(pattern: string, about: About<F>) {
    this.pattern = pattern;
    this.about = about;
  }

  read<R extends TSchema>(op: Op<F, R>): this {
    return this.#set('read', op);
  }

  list<R extends TSchema>(op: Op<F, R>): this {
    return this.#set('list', op);
  }

  scan<R extends TSchema>(op: Op<F, R>): this {
    return this.#set('scan', op);
  }

  delete<R extends TSchema>(op: Op<F, R>): this {
    return this.#set('delete', op);
  }

  patch<R extends TSchema>(op: Op<F, R>): this {
    return this.#set('patch', op);
  }

  update<R extends TSchema>(op: Op<F, R>): this {
    return this.#set('update', op);
  }

  upsert<R extends TSchema>(op: Op<F, R> & { exists(req: EngineRequest<F>): Promise<boolean> }): this {
    this.operations.exists = (req) => op.exists(req as EngineRequest<F>);
    return this.#set('update', op);
  }

  #set(name: Exclude<keyof Operations, 'exists'>, op: unknown): this {
    if (this.operations[name]) throw new Error(`path ${this.pattern} declares ${name} twice`);
    this.operations[name] = op as Op<TProperties, TSchema>;
    return this;
  }
}
