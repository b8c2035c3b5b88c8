import { lockoutTuning } from '../../services/lockout/lockout-settings.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { RemovalRecord } from '../../services/removal/removal-record.ts';
import { VERSION } from '../../kernel/version.ts';

/** A mount as `sys/mounts` and `sys/auth` show it; `removal` is how its removal stands. */
export function mountData(mount: Mount, removal?: RemovalRecord): Record<string, unknown> {
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
export function removalData(removal: RemovalRecord): Record<string, unknown> {
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
export function tuneData(mount: Mount): Record<string, unknown> {
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
