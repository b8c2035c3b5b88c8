/**
 * An account of an outside system whose password or key a mount rotates. Two mounts that manage the same account must describe it in the same way, so both
 * texts are in canonical form: the engine folds case, ports and other variants that the outside system does not distinguish.
 */
export interface ManagedAccount {
  /** The system: `postgresql://db.corp.example:5432`, `ldap://ldap.corp.example:389`, `aws:123456789012`. Never contains a password. */
  readonly system: string;
  /** The account in that system: a user name, a distinguished name. */
  readonly name: string;
}

/** The manager of an account, which rotates its credential. */
export interface AccountManager {
  /** The current path of the mount. */
  readonly mount: string;
  /** The part of the mount, as error messages name it: `static role "reports"`, `the root credential of connection "main"`. */
  readonly by: string;
  /** Whether it is this mount. */
  readonly own: boolean;
}
