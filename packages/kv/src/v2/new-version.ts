import { defaultConfig, type MountConfig } from './mount-config.ts';
import { newSecret, type SecretRecord, type VersionRecord } from './secret-record.ts';

/** Versions that are kept where neither the mount nor the secret says how many. */
const DEFAULT_MAX_VERSIONS = 10;
/** The last moment that a Date can hold. */
const LAST_MILLIS = 8.64e15;

/**
 * The secret with one version more, without its data, and the versions that it no longer keeps.
 * The larger of the two `max_versions` counts, and the smaller of the two `delete_version_after`.
 */
export function withNewVersion(
  before: SecretRecord | undefined,
  now: Date,
  config: MountConfig = defaultConfig,
): { secret: SecretRecord; pruned: readonly VersionRecord[] } {
  const { latest: _data, ...base } = before ?? newSecret(now);
  const time = now.toISOString();
  const version = base.current_version + 1;
  const added = { version, created_time: time, deletion_time: deletionTime(now, config, base), destroyed: false };
  const secret: SecretRecord = { ...base, current_version: version, updated_time: time, versions: [...base.versions, added] };
  const kept = Math.max(secret.max_versions, config.max_versions) || DEFAULT_MAX_VERSIONS;
  if (version - secret.oldest_version < kept) return { secret, pruned: [] };
  const oldest = version - kept + 1;
  return {
    secret: { ...secret, oldest_version: oldest, versions: secret.versions.filter((known) => known.version >= oldest) },
    pruned: secret.versions.filter((known) => known.version < oldest),
  };
}

function deletionTime(now: Date, config: MountConfig, secret: Pick<SecretRecord, 'delete_version_after'>): string {
  const delays = [config.delete_version_after, secret.delete_version_after];
  if (delays.some((delay) => delay < 0)) return '';
  const at = now.getTime() + 1000 * Math.min(...delays.filter((delay) => delay > 0));
  return at <= LAST_MILLIS ? new Date(at).toISOString() : '';
}
