import { BadRequest, decodeValue, f, unrecognizedFields, type FieldKind } from '@strongroom/engine-sdk';
import { LOCKOUT_FIELDS, mergeLockoutConfig } from '../../services/lockout/lockout-settings.ts';
import type { MountConfig } from '../../kernel/mounts/mount-record.ts';

const advanced = { group: 'Advanced' };

/** Fields of a tune call, and of `config` when mounting. */
export const tuneFields = {
  default_lease_ttl: f.any('Lease length when a role names none; a duration, or "system".'),
  max_lease_ttl: f.any('Longest lease; a duration, or "system".'),
  force_no_cache: f.bool('Accepted; nothing is cached that storage would not confirm.', advanced),
  audit_non_hmac_request_keys: f.commaStrings('Request keys that audit devices write in clear.', advanced),
  audit_non_hmac_response_keys: f.commaStrings('Response keys that audit devices write in clear.', advanced),
  listing_visibility: f.string('unauth shows the mount to callers without a token.'),
  passthrough_request_headers: f.commaStrings('Request headers that reach the engine.', advanced),
  allowed_response_headers: f.commaStrings('Response headers the engine may set.', advanced),
  token_type: f.string('Of login methods: default-service, default-batch, service or batch.'),
  user_lockout_config: f.map('Of login methods: lockout_threshold, lockout_duration, lockout_counter_reset, lockout_disable.'),
  plugin_version: f.string('Accepted; the version is that of the installed package.', advanced),
  plugin_name: f.string('The plugin, where it is not the type.', advanced),
};

const KINDS: Partial<Record<keyof MountConfig, FieldKind>> = {
  force_no_cache: 'bool',
  audit_non_hmac_request_keys: 'commaStrings',
  audit_non_hmac_response_keys: 'commaStrings',
  passthrough_request_headers: 'commaStrings',
  allowed_response_headers: 'commaStrings',
};
const TOKEN_TYPES = ['default-service', 'default-batch', 'service', 'batch'];

/** The rest of what Go clients send in `config` whether or not it has a value. */
const OTHER_SETTINGS = ['options', 'description', 'allowed_managed_keys', 'delegated_auth_accessors', 'identity_token_key'];

/** Warns of settings in `config` that had no effect: with a misspelt `max_lease_ttl` leases last longer than their operator thinks. */
export function ignoredSettings(config: Readonly<Record<string, unknown>>): string[] {
  const known = Object.keys(tuneFields);
  const unknown = Object.keys(config).filter((name) => !known.includes(name) && !(OTHER_SETTINGS.includes(name) && isEmpty(config[name])));
  return [...unrecognizedFields(unknown, known, 'config.'), ...ignoredLockoutSettings(config, 'config.')];
}

/** The same of what is in `user_lockout_config`. `prefix`: where that stands. */
export function ignoredLockoutSettings(sent: Readonly<Record<string, unknown>>, prefix = ''): string[] {
  const { user_lockout_config: settings } = sent;
  if (typeof settings !== 'object' || settings === null) return [];
  const unknown = Object.keys(settings).filter((name) => !Object.hasOwn(LOCKOUT_FIELDS, name));
  return unrecognizedFields(unknown, Object.keys(LOCKOUT_FIELDS), `${prefix}user_lockout_config.`);
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value as object).length === 0);
}

/** The plugin that `config` names when mounting; empty for none. @throws BadRequest */
export function pluginNameIn(config: Readonly<Record<string, unknown>>): string {
  const { plugin_name: name } = config;
  return name === undefined || name === null ? '' : (decodeNamed('plugin_name', 'string', name) as string);
}

/**
 * What the sent values make of a stored configuration: only what is sent changes, and null says nothing.
 * @throws BadRequest naming the field
 */
export function mergeMountConfig(
  stored: MountConfig,
  values: Readonly<Record<string, unknown>>,
  mount: { class: 'secret' | 'auth'; type: string },
): MountConfig {
  const sent = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
  const merged: MountConfig = { ...stored };
  for (const key of ['default_lease_ttl', 'max_lease_ttl'] as const) {
    const value = sent[key];
    if (value === undefined) continue;
    merged[key] = value === 'system' ? 0 : ((decodeNamed(key, 'duration', value) as number | undefined) ?? 0);
  }
  for (const [key, kind] of Object.entries(KINDS) as [keyof MountConfig, FieldKind][]) {
    const value = sent[key];
    if (value === undefined) continue;
    const decoded = decodeNamed(key, kind, value);
    if (Array.isArray(decoded) && decoded.length === 0) delete merged[key];
    else (merged as Record<string, unknown>)[key] = decoded;
  }
  if (sent['listing_visibility'] !== undefined) {
    const visibility = sent['listing_visibility'];
    if (visibility !== '' && visibility !== 'hidden' && visibility !== 'unauth')
      throw new BadRequest(`invalid listing_visibility ${String(visibility)}`);
    if (visibility === '') delete merged.listing_visibility;
    else merged.listing_visibility = visibility;
  }
  if (sent['token_type'] !== undefined) {
    if (mount.class !== 'auth') throw new BadRequest("'token_type' can only be modified on auth mounts");
    const type = sent['token_type'] === '' || sent['token_type'] === 'default' ? 'default-service' : sent['token_type'];
    if (typeof type !== 'string' || !TOKEN_TYPES.includes(type))
      throw new BadRequest(`invalid value for 'token_type'; must be one of ${TOKEN_TYPES.join(', ')}`);
    if (mount.type === 'token') throw new BadRequest("'token_type' cannot be set for 'token' or 'ns_token' auth mounts");
    merged.token_type = type;
  }
  if (sent['user_lockout_config'] !== undefined) {
    if (mount.class !== 'auth') throw new BadRequest("'user_lockout_config' can only be modified on auth mounts");
    const lockout = mergeLockoutConfig(stored.user_lockout_config, sent['user_lockout_config']);
    if (Object.keys(lockout).length > 0) merged.user_lockout_config = lockout as NonNullable<MountConfig['user_lockout_config']>;
    else delete merged.user_lockout_config;
  }
  return merged;
}

function decodeNamed(key: string, kind: FieldKind, value: unknown): unknown {
  try {
    return decodeValue(kind, value);
  } catch (error) {
    throw new BadRequest(`Field validation failed: error converting input for field ${JSON.stringify(key)}: ${(error as Error).message}`);
  }
}
