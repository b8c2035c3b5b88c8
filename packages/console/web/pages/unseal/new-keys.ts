/** Keys that the server has just made, and shows this once. */
export interface NewKeys {
  /** What each share is called: `Unseal share`. */
  readonly kind: string;
  readonly shares: readonly string[];
  readonly threshold: number;
  readonly rootToken?: string;
}
