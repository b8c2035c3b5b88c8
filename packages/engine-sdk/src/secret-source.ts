import type { MountInfo } from './mount-info.ts';
import type { EngineRequest } from './request.ts';
import type { Transaction } from './storage-view.ts';

/** The current version of a secret. */
export interface SourceSecret {
  /** Grows with every version. */
  readonly version: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** When this version ends by itself, without any further announcement. */
  readonly expiresAt?: Date;
}

/**
 * An engine's secrets, for engines that follow them. Whoever offers this announces every change of what `read` gives within
 * the transaction that makes it: `tx.notifySubscribers(name)`.
 */
export interface SecretSource {
  /** Undefined: there is no such secret, or its current version is deleted or destroyed. */
  read(name: string): Promise<SourceSecret | undefined>;
  /** The path below the mount that a caller must be allowed to read to see the secret. */
  readPath(name: string): string;
}

/**
 * What a subscriber does when secrets change. Both run inside the transaction of the change, on the subscriber's own storage, and are run again
 * on a conflict: what they store or schedule is committed with the change or not at all. They are called for every change of every
 * source, so a secret that nobody follows must cost next to nothing. A throw fails the change.
 */
export interface SecretSubscriber {
  changed(tx: Transaction, secret: { readonly mount: MountInfo; readonly name: string }): Promise<void>;
  /** The mount is about to go, with all its secrets, which are not announced one by one. */
  unmounted(tx: Transaction, mount: MountInfo): Promise<void>;
}

/** A mount, and the secrets that it offers. */
export interface SourceMount {
  readonly mount: MountInfo;
  /** Absent: this engine offers no secrets to follow. */
  readonly source?: SecretSource;
}

/** What a package that `subscribesToSecrets` gets to see of other mounts. */
export interface SecretSources {
  /** With or without the closing slash. */
  at(path: string): SourceMount | undefined;
  byUuid(uuid: string): SourceMount | undefined;
  byAccessor(accessor: string): SourceMount | undefined;
  /** Whether the policies of whoever makes this request let them read the path, which is counted from the root. */
  mayRead(req: Pick<EngineRequest, 'id' | 'caller'>, path: string): boolean;
}
