import { Timestamp, type Answered } from '@strongroom/engine-sdk';
import { Type, type Static, type TSchema } from 'typebox';
import { lockoutTuning } from '../../services/lockout/lockout-settings.ts';
import { MountConfig } from '../../kernel/mounts/mount-record.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { RemovalRecord } from '../../services/removal/removal-record.ts';
import { VERSION } from '../../kernel/version.ts';

const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

/** How a removal stands. */
export const Removal = Type.Object({
  phase: Type.Union([Type.Literal('revoking'), Type.Literal('letting-go'), Type.Literal('wiping')]),
  since: Timestamp,
  attempts: Type.Integer({ description: 'Those that failed.' }),
  last_attempt: orNull(Timestamp),
  next_attempt: orNull(Timestamp),
  reasons: Type.Array(Type.String(), { description: 'Why the last attempt failed.' }),
  leases: orNull(Type.Integer({ description: 'Leases that were still there after it.' })),
});

const options = orNull(Type.Record(Type.String(), Type.String()));
const mount = {
  accessor: Type.String(),
  config: MountConfig,
  deprecation_status: Type.Optional(Type.String()),
  description: Type.String(),
  external_entropy_access: Type.Boolean(),
  local: Type.Boolean(),
  options,
  plugin_version: Type.String(),
  running_plugin_version: Type.String(),
  running_sha256: Type.String(),
  seal_wrap: Type.Boolean(),
  type: Type.String(),
  uuid: Type.String(),
  quarantine: Type.Optional(Type.String({ description: 'Why the mount answers nothing.' })),
  removing: Type.Optional(Removal),
};
/** A mount. */
export const MountData = Type.Object(mount, { title: 'Mount' });
/** A mount, and where it is. */
export const PlacedMount = Type.Object({ ...mount, path: Type.String() });
/** A mount, as it is shown to who has no token. */
export const OpenMount = Type.Object({ type: Type.String(), description: Type.String(), options });

const { user_lockout_config: _lockout, ...tuned } = MountConfig.properties;
/** A mount's tuning. */
export const Tuning = Type.Object(
  {
    description: Type.String(),
    ...tuned,
    options: Type.Optional(Type.Record(Type.String(), Type.String())),
    user_lockout_counter_threshold: Type.Optional(Type.Integer()),
    user_lockout_duration: Type.Optional(Type.Number({ description: 'Seconds.' })),
    user_lockout_counter_reset_duration: Type.Optional(Type.Number({ description: 'Seconds.' })),
    user_lockout_disable: Type.Optional(Type.Boolean()),
  },
  { title: 'Tuning' },
);

/** A mount as `sys/mounts` and `sys/auth` show it; `removal` is how its removal stands. */
export function mountData(mount: Mount, removal?: RemovalRecord): Answered<Static<typeof MountData>> {
  const { record } = mount;
  return {
    accessor: record.accessor,
    config: record.config,
    ...(mount.package && !['system', 'identity', 'cubbyhole', 'token'].includes(record.type) ? { deprecation_status: 'supported' } : {}),
    description: record.description,
    external_entropy_access: record.external_entropy_access,
    local: record.local,
    options: record.options,
    plugin_version: '',
    running_plugin_version: `v${mount.package?.version ?? VERSION.split('+')[0]!}${mount.external ? '' : '+builtin.strongroom'}`,
    running_sha256: '',
    seal_wrap: record.seal_wrap,
    type: record.type,
    uuid: record.uuid,
    ...(mount.quarantine === undefined ? {} : { quarantine: mount.quarantine }),
    ...(removal ? { removing: removalData(removal) } : {}),
  };
}

/** How a removal stands. Times are RFC 3339. */
export function removalData(removal: RemovalRecord): Static<typeof Removal> {
  return {
    phase: removal.phase,
    since: new Date(removal.since).toISOString(),
    attempts: removal.attempts,
    last_attempt: removal.last_attempt === undefined ? null : new Date(removal.last_attempt).toISOString(),
    // While an attempt is under way there is no next one.
    next_attempt: removal.claim === undefined ? new Date(removal.due).toISOString() : null,
    reasons: removal.reasons,
    leases: removal.leases ?? null,
  };
}

/** A mount's tuning, with effective lifetimes in seconds. */
export function tuneData(mount: Mount): Static<typeof Tuning> {
  const { config, description, options } = mount.record;
  return {
    description,
    default_lease_ttl: mount.defaultLeaseTtl,
    max_lease_ttl: mount.maxLeaseTtl,
    force_no_cache: config.force_no_cache,
    ...(options ? { options } : {}),
    ...(mount.class === 'auth' ? { token_type: config.token_type ?? 'default-service' } : {}),
    ...(config.audit_non_hmac_request_keys ? { audit_non_hmac_request_keys: config.audit_non_hmac_request_keys } : {}),
    ...(config.audit_non_hmac_response_keys ? { audit_non_hmac_response_keys: config.audit_non_hmac_response_keys } : {}),
    ...(config.listing_visibility ? { listing_visibility: config.listing_visibility } : {}),
    ...(config.passthrough_request_headers ? { passthrough_request_headers: config.passthrough_request_headers } : {}),
    ...(config.allowed_response_headers ? { allowed_response_headers: config.allowed_response_headers } : {}),
    ...(config.user_lockout_config ? lockoutTuning(config.user_lockout_config) : {}),
  };
}
