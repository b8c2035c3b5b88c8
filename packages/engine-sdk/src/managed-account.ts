/**
 * An account outside whose password or key a mount changes by itself. Two mounts that mean the same account must write it the same way, so
 * both texts are canonical: the engine folds case, ports and variants that the outside system does not tell apart.
 */
export interface ManagedAccount {
  /** Where the account is: `postgresql://db.corp.example:5432`, `ldap://ldap.corp.example:389`, `aws:123456789012`. Never with a password. */
  readonly system: string;
  /** Which one it is: a user name, a distinguished name. */
  readonly name: string;
}

/** Who changes the credential of an account. */
export interface AccountManager {
  /** The mount's path, as it is now. */
  readonly mount: string;
  /** What of the mount, in the words that a refusal uses: `static role "reports"`, `the root credential of connection "main"`. */
  readonly by: string;
  /** Whether it is this mount. */
  readonly own: boolean;
}
