/** Keys that the server has just made, and shows this once. */
export interface NewKeys {
  /** What each share is called: `Unseal share`. */
  readonly kind: string;
  readonly shares: readonly string[];
  readonly threshold: number;
  readonly rootToken?: string;
  /** What is encrypted to PGP keys, and can be read by those who have them alone. */
  readonly encrypted?: { readonly shares: boolean; readonly rootToken: boolean };
  /** Of the PGP keys, in the order of the shares. */
  readonly fingerprints?: readonly string[];
}
