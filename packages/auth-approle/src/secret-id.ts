import { Timestamp } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

/** A secret id as it is stored, by its digest. The secret id itself is stored nowhere. */
export const SecretId = Type.Object({
  accessor: Type.String(),
  /** 0: without limit. A secret id with no use left is deleted. */
  uses_left: Type.Number(),
  /** Seconds; 0: without end. */
  ttl: Type.Number(),
  /** These three in milliseconds since the epoch. */
  created: Type.Number(),
  updated: Type.Number(),
  /** 0: never. */
  expires: Type.Number(),
  metadata: Type.Record(Type.String(), Type.String()),
  cidr_list: Type.Array(Type.String()),
  token_bound_cidrs: Type.Array(Type.String()),
});
export type SecretId = Static<typeof SecretId>;

export function isExpired({ expires }: SecretId, now: number): boolean {
  return expires !== 0 && expires <= now;
}

export const ShownSecretId = Type.Object({
  cidr_list: Type.Array(Type.String()),
  creation_time: Timestamp,
  expiration_time: Timestamp,
  last_updated_time: Timestamp,
  metadata: Type.Record(Type.String(), Type.String()),
  secret_id_accessor: Type.String(),
  secret_id_num_uses: Type.Integer({ description: 'How often it can still be used; 0 means without limit.' }),
  secret_id_ttl: Type.Integer({ description: 'Seconds.' }),
  token_bound_cidrs: Type.Array(Type.String()),
});

/** What a lookup shows. */
export function shownSecretId(record: SecretId): Static<typeof ShownSecretId> {
  const { accessor, uses_left, ttl, created, updated, expires, metadata, cidr_list, token_bound_cidrs } = record;
  return {
    cidr_list,
    creation_time: new Date(created).toISOString(),
    expiration_time: expires === 0 ? '0001-01-01T00:00:00Z' : new Date(expires).toISOString(),
    last_updated_time: new Date(updated).toISOString(),
    metadata,
    secret_id_accessor: accessor,
    secret_id_num_uses: uses_left,
    secret_id_ttl: ttl,
    token_bound_cidrs,
  };
}
