import type { TObject } from 'typebox';

/** The handle of an intent in the journal. */
export interface OpenIntent {
  readonly id: string;
  readonly kind: string;
}

/** A kind of intent, as storage knows it: its name, what is stored of each intent, and when it is rolled back. */
export interface IntentKind<E extends TObject = TObject> {
  /** Written into every stored entry; never renamed. */
  readonly kind: string;
  readonly entry: E;
  /** Seconds until an unsettled intent is rolled back. Longer than any request that may still work on the change. */
  readonly minAgeSeconds: number;
  /**
   * The change creates nothing in the outside system and only removes something, such as a key. Only such an intent can be opened while its mount is being
   * removed. Default false.
   */
  readonly takesBack?: boolean;
}
