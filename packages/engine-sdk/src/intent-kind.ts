import type { TObject } from 'typebox';

/** The handle of an intent that stands in the journal. */
export interface OpenIntent {
  readonly id: string;
  readonly kind: string;
}

/** A kind of intent, as storage knows it: its name, what is stored of each intent, and when it is rolled back. */
export interface IntentKind<E extends TObject = TObject> {
  /** Written into every stored entry; never renamed. */
  readonly kind: string;
  readonly entry: E;
  /** Longer than any request that can still be at work on the change: seconds until an unsettled intent is rolled back. */
  readonly minAgeSeconds: number;
  /**
   * The change makes nothing outside, it only takes back, such as the deletion of a key. Such an intent may also be opened while its mount is being
   * removed; every other one is refused then. Default false.
   */
  readonly takesBack?: boolean;
}
