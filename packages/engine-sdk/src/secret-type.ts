import type { Static, TObject } from 'typebox';
import type { OpenIntent } from './intent-kind.ts';
import type { OutsideThing } from './outside-thing.ts';
import type { StorageView, Transaction } from './storage-view.ts';

/** How long a secret is valid. In seconds; 0 means the value of the mount. */
export interface LeaseTerms {
  readonly ttl: number;
  /** The age that renewals can reach, counted from the time of issue. */
  readonly maxTtl: number;
  /** False for a secret that cannot be extended. By default, true if the type has `renew`. */
  readonly renewable?: boolean;
}

/** A lease, as renewal and revocation of a secret see it. */
export interface Lease<I> {
  readonly id: string;
  readonly internal: I;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** The seconds that the caller of a renewal asked for; 0 if none. */
  readonly increment: number;
  /** When the renewed lease will end if the type returns these terms, for expiry dates in outside systems. */
  endsWith(terms: LeaseTerms): Date;
  readonly storage: StorageView;
  readonly signal: AbortSignal;
}

/** A kind of secret that leases hold: how it is renewed and revoked. */
export interface SecretType<I extends TObject> {
  /** Written into every lease; never renamed. */
  readonly type: string;
  /** The schema of the data that `renew` and `revoke` receive. It outlives deployments; data is checked when it is read. */
  readonly internal: I;
  /** The target whose circuit breaker guards revocations: a connection, a directory. */
  target?(internal: Static<I>): string;
  /** Without it, leases of this type are not renewable. */
  renew?(lease: Lease<Static<I>>): Promise<LeaseTerms>;
  /** Revokes the secret. Retried until it succeeds, so what is already gone counts as success. */
  revoke(lease: Lease<Static<I>>): Promise<void>;
  /**
   * Called once `revoke` has resolved, in the commit that removes the lease: what the engine has stored about the secret goes here instead of in a commit of
   * its own. May run again on a conflict, so it touches nothing but `tx`. A throw leaves the lease, whose revocation is tried again.
   */
  revoked?(internal: Static<I>, tx: Transaction): Promise<void>;
  /** Called when an operator drops the lease without revocation, in the same commit. Its credential may still exist in the outside system. */
  dropped?(internal: Static<I>, tx: Transaction): Promise<void>;
  /**
   * What exists in an outside system as long as the lease, for operators who drop it without revocation: `{ kind: 'database user', name: 'v-token-…' }`.
   * Derived from the record alone, without asking the outside system. Contains no secret. Undefined means nothing. Without this hook, operators see only the
   * id of the lease and its type.
   */
  outside?(internal: Static<I>): OutsideThing | undefined;
}

/** A secret type of any internal data: what is stored is checked against `internal` before it is handed over. */
export type AnySecretType = SecretType<TObject>;

/** A secret to be issued. The core stores the lease and settles `fulfils` in one commit, so neither exists without the other. */
export interface IssuedSecret {
  readonly type: Pick<AnySecretType, 'type' | 'internal'> & { readonly renew?: unknown };
  readonly internal: Readonly<Record<string, unknown>>;
  readonly terms: LeaseTerms;
  readonly fulfils?: OpenIntent;
}

/** Ties `internal` to the type it belongs to. */
export function issue<I extends TObject>(
  type: SecretType<I>,
  secret: { internal: Static<I>; terms: LeaseTerms; fulfils?: OpenIntent },
): IssuedSecret {
  return { ...secret, type, internal: secret.internal as Record<string, unknown> };
}
