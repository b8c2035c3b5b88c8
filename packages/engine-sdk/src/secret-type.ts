import type { Static, TObject } from 'typebox';
import type { OpenIntent } from './intent-kind.ts';
import type { OutsideThing } from './outside-thing.ts';
import type { StorageView, Transaction } from './storage-view.ts';

/** How long something is good for. Seconds; 0 asks for the mount's own value. */
export interface LeaseTerms {
  readonly ttl: number;
  /** Total age that renewals can reach, counted from the issue. */
  readonly maxTtl: number;
  /** False for what cannot be extended; default true where the type has `renew`. */
  readonly renewable?: boolean;
}

/** A lease, as renewal and revocation of a secret see it. */
export interface Lease<I> {
  readonly id: string;
  readonly internal: I;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** Seconds asked for by the caller of a renewal; 0 when none were. */
  readonly increment: number;
  /** When the renewed lease will end if the type returns these terms unchanged: for outside expiry dates. */
  endsWith(terms: LeaseTerms): Date;
  readonly storage: StorageView;
  readonly signal: AbortSignal;
}

/** A kind of secret that leases hold: how it is renewed and revoked. */
export interface SecretType<I extends TObject> {
  /** Written into every lease; never renamed. */
  readonly type: string;
  /** What renew and revoke get back. It outlives deployments and is checked when read. */
  readonly internal: I;
  /** What a circuit breaker guards at revocation: a connection, a directory. */
  target?(internal: Static<I>): string;
  /** Absent: leases of this type are not renewable. */
  renew?(lease: Lease<Static<I>>): Promise<LeaseTerms>;
  /** Retried until it succeeds, so what is already gone counts as success. */
  revoke(lease: Lease<Static<I>>): Promise<void>;
  /** An operator dropped the lease without revocation, so that its credential may be left outside. Part of the commit that drops it. */
  dropped?(internal: Static<I>, tx: Transaction): Promise<void>;
  /**
   * What stands outside while the lease does, for operators who let go of it without revocation: `{ kind: 'database user', name: 'v-token-…' }`.
   * Told from the record alone, without asking the outside system. Holds no secret. Undefined: nothing does. Without this hook the lease's id and
   * its type are all that operators read.
   */
  outside?(internal: Static<I>): OutsideThing | undefined;
}

/** A secret type of any internal data: what is stored is checked against `internal` before it is handed over. */
export type AnySecretType = SecretType<TObject>;

/** The core stores the lease and settles `fulfils` in one commit: no moment has the one without the other. */
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
