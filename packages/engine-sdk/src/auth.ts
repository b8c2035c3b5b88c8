import type { StorageView } from './storage-view.ts';

/** What a login method grants; the core makes a token of it. */
export interface IssuedAuth {
  /** Follows the mount in the token's display name: `ldap-` + this. */
  readonly displayName: string;
  /** Of the method's own mapping; `default` is added by the core unless `noDefaultPolicy`. */
  readonly policies: readonly string[];
  /** Shown with the token and in the audit log: never a secret. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Who this is to the identity store. */
  readonly alias?: LoginAlias;
  /** Names of outside groups; matched with group aliases of this mount. */
  readonly groupAliases?: readonly string[];
  readonly terms: TokenTerms;
  /** Kept with the token, encrypted, and handed to `renewAuth`. Never a user's password. */
  readonly internal?: Readonly<Record<string, unknown>>;
}

/** The name by which a login method knows somebody. */
export interface LoginAlias {
  readonly name: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * All spellings of a name are one person to the method (see `foldName`): an alias that already exists in another spelling is used. Only for methods
   * whose names are compared so outside as well; elsewhere it would make one of two people.
   */
  readonly anySpelling?: boolean;
  /**
   * Further names that this very login has proven to be the same person's. An alias that already exists under one of them is used where `name` has
   * none. Where any of these names belongs to a disabled entity, the login is refused.
   */
  readonly others?: readonly string[];
}

/** Seconds; 0 asks for the mount's own value. */
export interface TokenTerms {
  readonly ttl: number;
  readonly maxTtl: number;
  readonly explicitMaxTtl: number;
  readonly period: number;
  /** 0 is without limit. */
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
