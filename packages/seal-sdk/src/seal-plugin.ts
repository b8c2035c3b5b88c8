import type { Clock, Log } from '@strongroom/engine-sdk';
import type { Settings, SettingValues } from './settings.ts';

/**
 * One kind of place that keeps the key of a server: a key service, a hardware module. A value: importing it does nothing, and the service's library is
 * loaded inside `open` (by `await import`). The host checks `apiVersion` before it calls anything, and loads the package only when a `seal` block names it.
 *
 * The host decides what is wrapped and when; it sets deadlines, retries with backoff, checks the health and tells operators. The plugin translates single
 * calls and errors, and never retries by itself: retries of libraries are off.
 */
export interface SealPlugin<S extends Settings = Settings> {
  readonly kind: 'seal';
  /** The label of the block, and `type` of `sys/seal-status`: `awskms`. */
  readonly name: string;
  /** What people call the service, for messages: `AWS KMS`. */
  readonly title: string;
  readonly apiVersion: 2;
  /** Semantic version of the package. */
  readonly version?: string;
  /** Where the plugin's code and the service's library are: folders as `file:` URLs, and names of packages. */
  readonly code?: readonly string[];
  /** The keys of the block, each with the environment variables that replace it. Keys of the host (`name`, `priority`, `disabled`, …) are not listed. */
  readonly settings: S;
  /** Everything wrong with the settings that can be seen without connecting, one sentence each, naming the key. Absent: nothing to check. */
  check?(values: SettingValues<S>): readonly string[];
  /**
   * Prepares a session. Must not connect: a service that is away shows at the first call, and the session works once it is back.
   * @throws SealSettingsInvalid
   */
  open(values: SettingValues<S>, host: SealHost): Promise<SealSession>;
}

/** What the host lends a session. Deadlines, retries and redaction stay with the host. */
export interface SealHost {
  readonly log: Log;
  /** The host's clock, which tests move. Timers of a session end with `close`. */
  readonly clock: Clock;
}

/**
 * An open session with one key of a service. Calls may overlap. Each rejects promptly, with `signal.reason`, once its signal is aborted: it carries
 * the host's deadline. Every other failure is one of the errors of this package; no message holds a credential, a key or what was wrapped.
 */
export interface SealSession {
  /** Encrypts with the current version of the key. Takes 1 to 4,096 bytes. Two calls with the same input need not give the same blob. */
  wrap(request: WrapRequest): Promise<WrappedBlob>;
  /** Decrypts a blob of any version of the key that the service still has. @throws SealWrongKey when the blob or `aad` is another */
  unwrap(request: UnwrapRequest): Promise<Uint8Array>;
  /** The version of the key that `wrap` uses now. Changes when the key is rotated: the host then rewraps. */
  keyId(request: KeyIdRequest): Promise<string>;
  /** Idempotent. Later calls of the others reject with SealClosed. */
  close(): Promise<void>;
}

/** Something to wrap. */
export interface WrapRequest {
  readonly plain: Uint8Array;
  /** Associated data: the blob opens with the same bytes only. */
  readonly aad: Uint8Array;
  readonly signal: AbortSignal;
}

/** A blob to open. */
export interface UnwrapRequest {
  /** As `wrap` gave it, by this or an earlier session. */
  readonly blob: Uint8Array;
  readonly aad: Uint8Array;
  readonly signal: AbortSignal;
}

/** A question for the current version of the key. */
export interface KeyIdRequest {
  readonly signal: AbortSignal;
}

/** What `wrap` made. */
export interface WrappedBlob {
  readonly blob: Uint8Array;
  /** The version of the key that wrapped it, as `keyId` says it. Shown to operators; not a secret. */
  readonly keyId: string;
}
