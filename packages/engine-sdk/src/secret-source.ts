import type { MountInfo } from './mount-info.ts';
import type { EngineRequest } from './request.ts';
import type { Transaction } from './storage-view.ts';

/** The key of `custom_metadata` by which a copy of a secret names the servers that it has come through: their `cluster_id`s, oldest first, with spaces between. */
export const COPY_ORIGIN = 'strongroom-origin';

/** The current version of a secret. */
export interface SourceSecret {
  /** Grows with every version. */
  readonly version: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** When this version expires, without any further notification. */
  readonly expiresAt?: Date;
  /** The value of `COPY_ORIGIN`, where the secret is a copy. */
  readonly origin?: string;
}

/**
 * The secrets of an engine, for engines that subscribe to them. The engine reports every change of what `read` returns in the transaction that makes
 * it: `tx.notifySubscribers(name)`.
 */
export interface SecretSource {
  /** Undefined if there is no such secret, or its current version is deleted or destroyed. */
  read(name: string): Promise<SourceSecret | undefined>;
  /** The path below the mount that a caller must be allowed to read to see the secret. */
  readPath(name: string): string;
}

/**
 * The work of a subscriber when secrets change. Both methods run in the transaction of the change, on the subscriber's own storage, and run again after a
 * conflict: what they store or schedule is committed with the change or not at all. They are called for every change of every source, so a secret
 * without a subscription must cost almost nothing. A throw makes the change fail.
 */
export interface SecretSubscriber {
  changed(tx: Transaction, secret: { readonly mount: MountInfo; readonly name: string }): Promise<void>;
  /** The mount is about to be removed with all its secrets, which are not reported one by one. */
  unmounted(tx: Transaction, mount: MountInfo): Promise<void>;
}

/** A mount, and the secrets that it offers. */
export interface SourceMount {
  readonly mount: MountInfo;
  /** Absent if the engine offers no secrets to subscribe to. */
  readonly source?: SecretSource;
}

/** What a package with `subscribesToSecrets` can see of other mounts. */
export interface SecretSources {
  /** With or without the closing slash. */
  at(path: string): SourceMount | undefined;
  byUuid(uuid: string): SourceMount | undefined;
  byAccessor(accessor: string): SourceMount | undefined;
  /** Whether the policies of the caller allow them to read the path, which begins at the root. */
  mayRead(req: Pick<EngineRequest, 'id' | 'caller'>, path: string): boolean;
}
