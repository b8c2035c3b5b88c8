/** One seal of ours in a package of its own, which is loaded only when the configuration names its type. */
export interface OfferedSeal {
  readonly type: string;
  readonly package: string;
}

/** This is the only list of seals in Strongroom, besides `static` and Shamir's. All are optional packages. */
export const OFFERED_SEALS: readonly OfferedSeal[] = [
  { type: 'awskms', package: '@strongroom/seal-aws-kms' },
  { type: 'azurekeyvault', package: '@strongroom/seal-azure-key-vault' },
  { type: 'gcpckms', package: '@strongroom/seal-gcp-kms' },
  { type: 'transit', package: '@strongroom/seal-transit' },
  { type: 'pkcs11', package: '@strongroom/seal-pkcs11' },
];
