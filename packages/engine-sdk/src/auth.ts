import type { StorageView, Transaction } from './storage-view.ts';

/** What a login grants. The core creates a token from it. */
export interface IssuedAuth {
  /** Appended to the mount's name in the token's display name: `ldap-` + this. If it is empty, the display name is the mount's name alone. */
  readonly displayName: string;
  /** From the auth method's own mapping. The core adds `default` unless `noDefaultPolicy` is set. */
  readonly policies: readonly string[];
  /** Shown with the token and in the audit log. Never contains a secret. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Identifies the caller in the identity store. */
  readonly alias?: LoginAlias;
  /** Names of external groups, matched against the group aliases of this mount. */
  readonly groupAliases?: readonly string[];
  readonly terms: TokenTerms;
  /** Stored with the token, encrypted, and passed to `renewAuth`. Never a user's password. */
  readonly internal?: Readonly<Record<string, unknown>>;
  /**
   * Consumes what the caller logged in with, such as one use of a secret id, in the commit that stores the result of the login: either both happen or
   * neither. Runs again after a conflict, so it must not touch anything outside storage. A throw refuses the login.
   */
  consume?(tx: Transaction): Promise<void>;
}

/**
 * The name by which an auth method knows a person or program: not empty, without control characters, and without spaces at its ends. `exactAliases` of the
 * package says whether case matters.
 */
export interface LoginAlias {
  readonly name: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * The auth method treats all variants of a name as one person (see `foldName`), so an existing alias in another variant is used. Set it only if the
   * outside system compares names in the same way; otherwise it merges two people into one. Has no effect where aliases are exact.
   */
  readonly anyVariant?: boolean;
  /**
   * Other names that this login has proven to belong to the same person. If `name` has no alias, an existing alias under one of these names is used. If
   * any of these names belongs to a disabled entity, the login is refused.
   */
  readonly others?: readonly string[];
}

/** In seconds; 0 means the value of the mount. */
export interface TokenTerms {
  readonly ttl: number;
  readonly maxTtl: number;
  readonly explicitMaxTtl: number;
  readonly period: number;
  /** 0 means unlimited. */
  readonly numUses: number;
  readonly noDefaultPolicy: boolean;
  readonly boundCidrs: readonly string[];
  readonly type: 'service' | 'batch' | 'default' | 'default-service' | 'default-batch';
  readonly renewable: boolean;
}

/** The token that is to be renewed, as its login left it. */
export interface AuthRenewal {
  readonly internal: Readonly<Record<string, unknown>>;
  readonly policies: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly displayName: string;
  /** Who asks for the renewal: not always who logged in. */
  readonly remoteAddress: string;
  /** What that caller has shown, as `certificates` of `Caller`. */
  readonly certificates: readonly Uint8Array[];
  readonly storage: StorageView;
  readonly signal: AbortSignal;
}

/** What a renewed token gets. Seconds. */
export interface RenewedAuth {
  readonly ttl: number;
  readonly maxTtl: number;
  readonly period: number;
  readonly groupAliases?: readonly string[];
}
