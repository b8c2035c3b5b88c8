import type { Static, TObject } from 'typebox';
import type { IntentKind } from './intent-kind.ts';
import type { OutsideThing } from './outside-thing.ts';
import type { StorageView } from './storage-view.ts';

/** An outside change in progress. What is stored before it begins must be enough to undo or finish it. */
export interface Intent<E extends TObject> extends IntentKind<E> {
  /** What a circuit breaker guards: a connection, a directory. */
  target?(entry: Static<E>): string;
  /** Undoes or finishes. Retried until it succeeds, so what is already gone counts as success. */
  rollback(entry: Static<E>, storage: StorageView, signal: AbortSignal): Promise<void>;
  /**
   * What may stand outside while the intent is open, for operators who forget it: the user that is being made, the key that is being deleted. Told from
   * the entry alone, without asking the outside system. Holds no secret. Undefined: nothing does. Without this hook the intent's id and its kind are
   * all that operators read.
   */
  outside?(entry: Static<E>): OutsideThing | undefined;
}

/** An intent of any entry: what is stored is checked against `entry` before it is handed over. */
export type AnyIntent = Intent<TObject>;
