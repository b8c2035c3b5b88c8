import { TokenRefused } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { Records, type RecordReader } from '../../kernel/storage/records.ts';

/** The policies of a token when it made another, with those of its entity. */
const PolicyBound = Type.Object({
  policies: Type.Array(Type.String()),
  /** Whose identity their templates are filled in with. */
  entity_id: Type.Optional(Type.String()),
});
export type PolicyBound = Static<typeof PolicyBound>;

/** A service token as stored below `token/<digest>`. Times are milliseconds since the epoch, spans are seconds. */
export const TokenRecord = Type.Object({
  accessor: Type.String(),
  /** Digest of the parent; absent for orphans. */
  parent: Type.Optional(Type.String()),
  /** Request path that made it; also the prefix of its lease. */
  path: Type.String(),
  policies: Type.Array(Type.String()),
  /** As the login method or the caller gave it. */
  meta: Type.Optional(Type.Unsafe<Record<string, string>>(Type.Object({}))),
  display_name: Type.String(),
  entity_id: Type.Optional(Type.String()),
  created: Type.Number(),
  /** 0: never ends. */
  expires: Type.Number(),
  /** Span given at creation; 0 for a root token. */
  creation_ttl: Type.Number(),
  explicit_max_ttl: Type.Optional(Type.Number()),
  /** Of the login method or role; counted from the creation. */
  max_ttl: Type.Optional(Type.Number()),
  /** What its makers had, where it has fewer policies: it may do only what these allow as well. */
  within: Type.Optional(Type.Array(PolicyBound)),
  /** What its maker's limits left: no renewal takes the token beyond. Milliseconds since the epoch. */
  latest: Type.Optional(Type.Number()),
  period: Type.Optional(Type.Number()),
  renewable: Type.Boolean(),
  /** 0 or absent is without limit. */
  num_uses: Type.Optional(Type.Number()),
  role: Type.Optional(Type.String()),
  bound_cidrs: Type.Optional(Type.Array(Type.String())),
  no_default_policy: Type.Optional(Type.Boolean()),
  last_renewal: Type.Optional(Type.Number()),
  /** The auth mount that issued it, and what its renewal gets back. */
  mount: Type.Optional(Type.String()),
  internal: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** A wrapping token: how its answer was made. */
  wrap: Type.Optional(Type.Object({ creation_path: Type.String(), ttl: Type.Number() })),
  /** Where the expiry stands in the schedule, if it has one. */
  due: Type.Optional(Type.Number()),
  attempts: Type.Optional(Type.Number()),
  /** Revocation has begun: the token is dead, what hangs on it is being taken back. */
  revoking: Type.Optional(Type.Boolean()),
});
export type TokenRecord = Static<typeof TokenRecord>;

/** By the token's digest. */
export const tokenRecords = new Records('token/', TokenRecord);

/** What hangs on a token must not outlive it: checked in the commit that stores it. @throws TokenRefused */
export async function requireAlive(tx: RecordReader, digest: string): Promise<void> {
  if (!(await isAlive(tx, digest))) throw new TokenRefused();
}

/** Whether there is such a token, and its end has not begun. */
export async function isAlive(tx: RecordReader, digest: string): Promise<boolean> {
  const record = await tokenRecords.get(tx, digest);
  return record !== undefined && record.revoking !== true;
}

/** The role of the login that made the token, by the metadata that login methods give; '' if it had none. */
export function roleOfLogin(record: Pick<TokenRecord, 'meta'> | undefined): string {
  const { meta = {} } = record ?? {};
  return (meta['role_name'] ?? meta['role'] ?? meta['cert_name'] ?? '').toLowerCase();
}

export function isOrphan(record: TokenRecord): boolean {
  return record.parent === undefined;
}

/** Seconds left; 0 for a token without end. */
export function ttlLeft(record: Pick<TokenRecord, 'expires'>, now: number): number {
  return record.expires === 0 ? 0 : Math.max(0, Math.ceil((record.expires - now) / 1_000));
}
