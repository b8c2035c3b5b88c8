import type { Static, TObject } from 'typebox';
import type { DestinationHost } from './host.ts';
import type { DestinationLimits } from './limits.ts';
import type { OwnershipMark } from './ownership.ts';

/** `secret-path`: one remote secret per secret, its data as one JSON document. `secret-key`: one per top-level key. */
export type Granularity = 'secret-path' | 'secret-key';

/**
 * How the host knows that a remote secret is ours.
 *
 * `marked`: the provider keeps an `OwnershipMark` beside the secret (a tag, a label, a comment), and `read` and `list` give it back. The mark
 * alone decides.
 *
 * `recorded`: the provider keeps nothing of the kind. The host's own record decides: a remote secret is ours if we recorded its name and its
 * `identity` (`created_at`, an id) is still the recorded one. `read` and `list` then must give `identity` and `revision`, and `createdAt`
 * where the provider tells it: after a crash in the middle of a creation the host takes the secret for its own only if it was made
 * after the host meant to make it.
 */
export type Ownership = 'marked' | 'recorded';

/**
 * One kind of place that secrets are copied to. A value: importing it does nothing, and provider SDKs are loaded inside `open`
 * (by `await import`), so that a server that lists the plugin pays nothing for it. The host checks `apiVersion` before it calls anything.
 *
 * The host decides what to write, when, and whether it may; it renders and normalizes names, checks limits, stores its intent first,
 * paces, retries and keeps the status. The plugin translates single calls and errors, and never retries by itself: SDK retries are off.
 */
export interface SyncDestinationPlugin<C extends TObject = TObject, A extends TObject = TObject> {
  readonly kind: 'sync-destination';
  /** The type in `sys/sync/destinations/<type>/<name>`, and what answers carry: `aws-sm`. */
  readonly name: string;
  /** Other variants of the type that requests may use: `cloud1-sm`. */
  readonly aliases?: readonly string[];
  /** What people call the provider, for messages: `AWS Secrets Manager`. */
  readonly title: string;
  readonly apiVersion: 2;
  /** Semantic version of the package. */
  readonly version?: string;
  /**
   * Where the plugin's code and the provider's library are: folders as `file:` URLs, and names of packages. By it the host knows whose fault it is
   * when something is thrown after its call has ended. Without it the host follows all that the plugin begins, which costs time.
   */
  readonly code?: readonly string[];
  /**
   * The connection's fields, built with `f` of engine-sdk: `Type.Object({ access_key_id: f.secret('…'), region: f.string('…') })`. `f.secret`
   * is masked in every answer; `required` is checked on what a write leaves stored, so that partial updates work; `aliases` are older variants. Fields of
   * the host (`secret_name_template`, `granularity`, `custom_tags`, `on_conflict`, the networking fields) are not listed here.
   */
  readonly connection: C;
  /**
   * Connection fields that say where the secrets lie (a region, a vault, a repository). They cannot be changed while associations exist:
   * what was written to the old place would be left behind.
   */
  readonly fixed: readonly (keyof C['properties'] & string)[];
  readonly options: {
    /** Whether `custom_tags` is taken. */
    readonly customTags: boolean;
    readonly granularity: Granularity;
    /** Default template of remote names; the host normalizes what it renders. */
    readonly secretNameTemplate: string;
  };
  readonly ownership: Ownership;
  /** Accounts that several destinations share and that are stored on their own. */
  readonly accounts?: SharedAccounts<C, A>;
  /**
   * The provider's limits for this connection. The host checks them before it sends anything. Pure; called on every write of a destination.
   */
  limits(connection: Static<C>): DestinationLimits;
  /**
   * Everything wrong with the connection that can be seen without connecting, one sentence each, naming the field: excluded
   * combinations, malformed addresses. Required fields are checked by the host. Absent: nothing to check.
   */
  check?(connection: Static<C>): readonly string[];
  /**
   * Prepares a session. Must not connect: wrong credentials show at the first call. Throws ConfigurationInvalid. Every connection that the
   * session makes goes through `host.network`.
   */
  open(connection: Static<C>, host: DestinationHost<Static<A>>): Promise<DestinationSession>;
}

/** Served as `sys/sync/<collection>/<name>`; refused to be deleted while a destination's `field` names one. */
export interface SharedAccounts<C extends TObject = TObject, A extends TObject = TObject> {
  /** `github-apps` */
  readonly collection: string;
  /** The connection field that names an account: `app_name`. The host reads the account and hands it over as `host.account`. */
  readonly field: keyof C['properties'] & string;
  /** Built with `f`, like `connection`. */
  readonly fields: A;
  /** What answers show beside the fields, such as the fingerprint of a key. Throws ConfigurationInvalid for an account that cannot work. */
  describe?(account: Static<A>): Readonly<Record<string, unknown>>;
}

/** What exists outside under a name. Never a value. */
export interface RemoteSecret {
  readonly name: string;
  /** As found beside the secret; absent if none is there, it cannot be read as one, or the destination is `recorded`. */
  readonly mark?: OwnershipMark;
  /**
   * Changes when the secret is removed and made again, and not when its value changes: an ARN, an env id, `created_at`. Required where
   * ownership is `recorded`.
   */
  readonly identity?: string;
  /**
   * Changes whenever somebody, we too, changes the value: a version id, `updated_at`. Shown to operators as `remote_version`, and compared with the
   * recorded one to see foreign edits. Must be the same text from `put`, `read` and `list`.
   */
  readonly revision?: string;
  readonly createdAt?: Date;
  /** Deleted, but its name is still taken and it can be brought back. `put` brings it back by itself. Never reported by `list`. */
  readonly softDeleted?: boolean;
}

/** A secret to look at. */
export interface ReadRequest {
  readonly name: string;
  /** The host's deadline. A call rejects promptly, with `signal.reason`, once it is aborted. */
  readonly signal: AbortSignal;
}

/** A secret to create or replace. */
export interface PutRequest {
  /** Already normalized and within the limits. */
  readonly name: string;
  /** Already within the limits. */
  readonly value: string;
  /**
   * The same by key, for providers whose secrets hold several texts; already within `limits.keys`. With `secret-path` every top-level key of the secret, with
   * `secret-key` the one key. Present where the destination declares `limits.keys`, except for a value that is no secret, as that of a test.
   */
  readonly fields?: Readonly<Record<string, string>>;
  /** Kept beside the secret where ownership is `marked`. It replaces a mark that is there. */
  readonly mark: OwnershipMark;
  /** The operator's `custom_tags`: set in addition to what the provider has. Empty where the destination takes none. */
  readonly tags: Readonly<Record<string, string>>;
  /**
   * Where the secret is itself a copy: the `cluster_id` of each server that it has come through, oldest first, with spaces between. A destination that is such a server
   * refuses a secret that it has passed on.
   */
  readonly origin?: string;
  /**
   * What `read` gave a moment ago; the host has decided that it may be replaced. Absent: nothing was there. Then the secret is created, and
   * a destination that can tell throws NameTaken if somebody else made it meanwhile, rather than overwrite it.
   */
  readonly current?: RemoteSecret;
  /**
   * A UUID; the same for every try of one write, another one for every other write. For providers with idempotency tokens: a repeated call makes no
   * second version.
   */
  readonly operationId: string;
  readonly signal: AbortSignal;
}

/** A secret to delete. */
export interface RemoveRequest {
  readonly name: string;
  /** What `read` gave a moment ago; the host has decided that it may go. */
  readonly current: RemoteSecret;
  readonly signal: AbortSignal;
}

/** Which secrets to list: those of one destination. */
export interface ListRequest {
  /** `OwnershipMark.destination` of those wanted. */
  readonly destination: string;
  readonly signal: AbortSignal;
}

/**
 * An open connection to one destination. Calls may overlap, though never two for one name. After `close` every other call rejects with
 * SessionClosed. Every failure is one of the errors of this package; no message holds a value or a credential.
 */
export interface DestinationSession {
  /** Undefined: the name is free. Also finds what is not ours, and what is soft-deleted. */
  read(request: ReadRequest): Promise<RemoteSecret | undefined>;
  /**
   * Creates or replaces value, mark and tags, and says what is there now. Brings back a soft-deleted secret first. Repeating it is harmless. Where
   * it takes several calls the value comes last, so that a secret never holds our value without our mark.
   */
  put(request: PutRequest): Promise<RemoteSecret>;
  /** Removing what is not there, or is soft-deleted already, succeeds. */
  remove(request: RemoveRequest): Promise<void>;
  /**
   * `marked`: those that carry a mark of `request.destination`. `recorded`: all that are there; the host picks its own. Page by page, without
   * holding more than a page.
   */
  list(request: ListRequest): AsyncIterable<RemoteSecret>;
  /** How many secrets, ours and others', count towards `limits.maxCount`. Present where there is such a limit. */
  count?(signal: AbortSignal): Promise<number>;
  /** Idempotent. */
  close(): Promise<void>;
}
