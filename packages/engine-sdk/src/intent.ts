import type { Static, TObject } from 'typebox';
import type { IntentKind } from './intent-kind.ts';
import type { OutsideThing } from './outside-thing.ts';
import type { StorageView } from './storage-view.ts';

/** A change of an outside system in progress. What is stored before it begins must be enough to roll it back or to complete it. */
export interface Intent<E extends TObject> extends IntentKind<E> {
  /** The target whose circuit breaker guards rollbacks: a connection, a directory. */
  target?(entry: Static<E>): string;
  /** Rolls the change back, or completes it. Retried until it succeeds, so what is already gone counts as success. */
  rollback(entry: Static<E>, storage: StorageView, signal: AbortSignal): Promise<void>;
  /**
   * What may exist in an outside system while the intent is open, for operators who delete the intent: the user being created, the key being deleted.
   * Derived from the entry alone, without asking the outside system. Contains no secret. Undefined means nothing. Without this hook, operators see only the id
   * of the intent and its kind.
   */
  outside?(entry: Static<E>): OutsideThing | undefined;
}

/** An intent of any entry: what is stored is checked against `entry` before it is handed over. */
export type AnyIntent = Intent<TObject>;
