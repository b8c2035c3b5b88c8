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
  readonly alias?: { readonly name: string; readonly metadata?: Readonly<Record<string, string>> };
  /** Names of outside groups; matched with group aliases of this mount. */
  readonly groupAliases?: readonly string[];
  readonly terms: TokenTerms;
  /** Kept with the token, encrypted, and handed to `renewAuth`. Never a user's password. */
  readonly internal?: Readonly<Record<string, unknown>>;
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

export interface AuthRenewal {
  readonly internal: Readonly<Record<string, unknown>>;
  readonly policies: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly displayName: string;
  readonly storage: StorageView;
  readonly signal: AbortSignal;
}

export interface RenewedAuth {
  readonly ttl: number;
  readonly maxTtl: number;
  readonly period: number;
  readonly groupAliases?: readonly string[];
}
