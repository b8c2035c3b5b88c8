import { Unavailable } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { Records, type RecordReader } from '../storage/records.ts';

const Lockout = Type.Object({
  lockout_threshold: Type.Optional(Type.Number()),
  lockout_duration: Type.Optional(Type.Number()),
  lockout_counter_reset: Type.Optional(Type.Number()),
  lockout_disable: Type.Optional(Type.Boolean()),
});

/** What an operator tunes. Seconds; 0 means the system's value. Absent keys are not shown. */
export const MountConfig = Type.Object({
  default_lease_ttl: Type.Number(),
  max_lease_ttl: Type.Number(),
  force_no_cache: Type.Boolean(),
  audit_non_hmac_request_keys: Type.Optional(Type.Array(Type.String())),
  audit_non_hmac_response_keys: Type.Optional(Type.Array(Type.String())),
  listing_visibility: Type.Optional(Type.String()),
  passthrough_request_headers: Type.Optional(Type.Array(Type.String())),
  allowed_response_headers: Type.Optional(Type.Array(Type.String())),
  token_type: Type.Optional(Type.String()),
  user_lockout_config: Type.Optional(Lockout),
});
export type MountConfig = Static<typeof MountConfig>;

/** A mount as stored below `core/mount/<uuid>`. */
export const MountRecord = Type.Object({
  /** With a closing slash; login methods with the leading `auth/`. */
  path: Type.String(),
  class: Type.Union([Type.Literal('secret'), Type.Literal('auth')]),
  type: Type.String(),
  uuid: Type.String(),
  accessor: Type.String(),
  description: Type.String(),
  config: MountConfig,
  options: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]),
  local: Type.Boolean(),
  seal_wrap: Type.Boolean(),
  external_entropy_access: Type.Boolean(),
  /** Being removed: it issues nothing any more, and what hangs on it is being taken back. */
  tainted: Type.Optional(Type.Boolean()),
});
export type MountRecord = Static<typeof MountRecord>;

/** The table of mounts, by uuid. */
export const mountRecords = new Records('core/mount/', MountRecord);

/**
 * For whoever stores something that the mount issues, in the same transaction. `takesBack`: it only takes back, and so may go on while the mount is
 * being removed. @throws Unavailable
 */
export async function requireIssuing(tx: RecordReader, uuid: string, takesBack = false): Promise<void> {
  const record = await mountRecords.get(tx, uuid);
  if (!record || (record.tainted === true && !takesBack)) throw beingRemoved(record?.path);
}

export function beingRemoved(path: string | undefined): Unavailable {
  return new Unavailable(
    path === undefined ? 'the mount is being removed' : `the mount ${path} is being removed, and issues nothing until that is cancelled`,
  );
}
