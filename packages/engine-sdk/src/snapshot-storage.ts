import type { TProperties } from 'typebox';
import type { Plugin } from './engine.ts';

/** The settings of a place for snapshots, as operators wrote them. */
export interface SnapshotPlace {
  /** `path_prefix`: a folder, or what the names in a bucket begin with. */
  readonly pathPrefix: string;
  /** `file_prefix`: what the names of snapshots begin with. */
  readonly filePrefix: string;
  /** The plugin's own fields that are set. */
  readonly settings: Readonly<Record<string, string | number | boolean>>;
}

/** A kind of place that scheduled snapshots are written to: `storage_type` of `sys/storage/raft/snapshot-auto/config`. */
export interface SnapshotStoragePlugin extends Plugin {
  readonly kind: 'snapshot-storage';
  readonly apiVersion: 2;
  /** Its own settings, built with `f`: texts, numbers and booleans. `f.secret` is never shown. Names must not be those of other places. */
  readonly fields: TProperties;
  /** The fields whose new value sends the secrets to another address, or sends them less safely. */
  readonly address: readonly string[];
  /** Complains about settings without asking anything outside. @throws BadRequest naming the field */
  check(place: SnapshotPlace): void;
  /** Prepares the calls, and connects to nothing. */
  open(place: SnapshotPlace): Promise<SnapshotStorage>;
}

/** A place for snapshots. Every call ends soon after its signal is aborted, with the reason of that. Failures are UpstreamFailed without a secret. */
export interface SnapshotStorage {
  /** Where the snapshot of this name is, for people. */
  url(name: string): string;
  /** The names of all that begins with `file_prefix`, with their sizes in bytes. */
  list(signal: AbortSignal): Promise<readonly StoredSnapshot[]>;
  /** Writes a snapshot that has no name yet: whatever happens, nothing is found under the name before it is committed. A throw leaves nothing. */
  write(name: string, pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StagedSnapshot>;
  /** Deletes a snapshot. One that is not there is deleted already. */
  remove(name: string, signal: AbortSignal): Promise<void>;
  /** Deletes all that a write which was interrupted left under this name, whether it had been committed or not. */
  clear(name: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** A snapshot as it lies there. */
export interface StoredSnapshot {
  readonly name: string;
  readonly bytes: number;
}

/** A snapshot that is written and has no name yet. One of the two is called, once. */
export interface StagedSnapshot {
  readonly bytes: number;
  /** Gives it its name. Resolves when it has been read back and is what was written; otherwise nothing of it is left. */
  commit(signal: AbortSignal): Promise<void>;
  /** Deletes it. */
  discard(): Promise<void>;
}
