import type { Change } from '@strongroom/storage-sdk';
import { roomFor } from '../write-groups.ts';

/** A change of another process. */
export interface SentChange {
  readonly change: Change;
  /** Of what it puts. The sender chooses it, so that it can look later whether the change was made. */
  readonly version: number;
  /** Where the store notes that the change was made, in its own transaction. No other change that is under way has it. */
  readonly slot: number;
}

/** Changes that one process sends to the writer together. */
export interface Batch {
  /** Comes back in the answer. */
  readonly number: number;
  /** The folder of the store that is changed. Another one may be taking its place. */
  readonly store: string;
  /** A number that no other driver of the store has. */
  readonly sender: number;
  /** The batch is applied only while the store has this epoch for the sender. */
  readonly epoch: number;
  readonly changes: readonly SentChange[];
}

/** For each change of a batch: a key whose expectation does not hold, or null where the change was made. */
export type Results = readonly (string | null)[];

/** What the writer says about a batch. */
export type Outcome =
  | { readonly kind: 'applied'; readonly results: Results }
  /** Nothing was written. */
  | { readonly kind: 'refused' }
  /** As a `StorageFailure`. */
  | { readonly kind: 'failed'; readonly reason: string; readonly full: boolean };

export interface Answer {
  readonly number: number;
  readonly outcome: Outcome;
}

/** Bytes that a batch may add to the file. */
export function roomOf({ changes }: Batch): number {
  return changes.reduce((sum, { change }) => sum + roomFor(change), 0);
}
