import type { FlagValues } from '../flag.ts';
import { flag } from '../flag.ts';
import { formatDuration } from '../duration.ts';
import { isRecord } from '../json.ts';
import type { JsonRecord } from '../json.ts';

/** Settings that both enabling and tuning take, for secrets engines and auth methods alike. */
export const tuneFlags = {
  description: flag.text('What the mount is for, in words.'),
  'default-lease-ttl': flag.duration("Lease length when the caller asks for none. Default: the server's."),
  'max-lease-ttl': flag.duration("Longest lease. Default: the server's."),
  'audit-non-hmac-request-keys': flag.list('Request field that audit devices log in clear; repeatable.', { placeholder: 'name' }),
  'audit-non-hmac-response-keys': flag.list('Answer field that audit devices log in clear; repeatable.', { placeholder: 'name' }),
  'listing-visibility': flag.text('Whether the mount shows to callers without a token.', { choices: ['unauth', 'hidden', ''] }),
  'passthrough-request-headers': flag.list('Request header that the engine gets to see; repeatable.', { placeholder: 'name' }),
  'allowed-response-headers': flag.list('Answer header that the engine may set; repeatable.', { placeholder: 'name' }),
  'plugin-version': flag.text('Version of the plugin to run.', { placeholder: 'semver' }),
  options: flag.map('Option of the engine, such as version=2; repeatable.'),
} as const;

export const enableFlags = {
  path: flag.text('Where to mount it. Default: its type.', { placeholder: 'path' }),
  ...tuneFlags,
  'plugin-name': flag.text('Name in the plugin catalog, when TYPE is "plugin".', { placeholder: 'name' }),
  'force-no-cache': flag.boolean('Never answer from a cache.'),
  local: flag.boolean('Keep this mount out of replication.'),
  'seal-wrap': flag.boolean('Wrap values in the seal as well, where supported.'),
  'external-entropy-access': flag.boolean('Let the engine use the external source of randomness.'),
} as const;

export const tokenTypeFlag = flag.text('Kind of token that logins return.', {
  choices: ['default-service', 'default-batch', 'service', 'batch'],
});

function text(value: string | undefined, name: string): Record<string, string> {
  return value === undefined ? {} : { [name]: value };
}

function list(values: readonly string[], name: string): Record<string, readonly string[]> {
  return values.length === 0 ? {} : { [name]: values.flatMap((value) => value.split(',')) };
}

function ttl(seconds: number | undefined, name: string): Record<string, string> {
  return seconds === undefined ? {} : { [name]: `${seconds}s` };
}

/** The body fields that the shared settings become; only what was given. The description is left to the caller. */
export function tuneBody(flags: FlagValues<typeof tuneFlags>): Record<string, unknown> {
  return {
    ...ttl(flags['default-lease-ttl'], 'default_lease_ttl'),
    ...ttl(flags['max-lease-ttl'], 'max_lease_ttl'),
    ...list(flags['audit-non-hmac-request-keys'], 'audit_non_hmac_request_keys'),
    ...list(flags['audit-non-hmac-response-keys'], 'audit_non_hmac_response_keys'),
    ...text(flags['listing-visibility'], 'listing_visibility'),
    ...list(flags['passthrough-request-headers'], 'passthrough_request_headers'),
    ...list(flags['allowed-response-headers'], 'allowed_response_headers'),
    ...text(flags['plugin-version'], 'plugin_version'),
  };
}

/** The body that mounts an engine or a method of a type. */
export function enableBody(
  type: string,
  flags: FlagValues<typeof enableFlags>,
  options: JsonRecord,
  config: JsonRecord,
): Record<string, unknown> {
  return {
    type,
    description: flags.description ?? '',
    config: { ...tuneBody(flags), ...(flags['force-no-cache'] ? { force_no_cache: true } : {}), ...config },
    local: flags.local,
    seal_wrap: flags['seal-wrap'],
    external_entropy_access: flags['external-entropy-access'],
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...text(flags['plugin-name'], 'plugin_name'),
  };
}

/** A mount's path as the API spells it: no leading slash, one trailing. */
export function mountPath(path: string): string {
  return `${path.trim().replace(/^\/+|\/+$/g, '')}/`;
}

const field = (mount: JsonRecord, name: string): string => {
  const value = mount[name];
  return value === undefined || value === null ? '' : String(value);
};

function lease(config: JsonRecord, name: string): string {
  const seconds = config[name];
  return typeof seconds === 'number' && seconds !== 0 ? formatDuration(seconds) : 'system';
}

function optionsText(value: unknown): string {
  if (!isRecord(value)) return '';
  return Object.keys(value)
    .sort()
    .map((key) => `${key}=${String(value[key])}`)
    .join(' ');
}

/** Header and rows for a listing of mounts. `longest` adds every setting. */
export function mountRows(mounts: JsonRecord, detailed: boolean, kind: 'secret' | 'auth'): { header: string[]; rows: string[][] } {
  const entries = Object.keys(mounts)
    .sort()
    .flatMap((path) => {
      const mount = mounts[path];
      return isRecord(mount) ? [{ path, mount, config: isRecord(mount['config']) ? mount['config'] : {} }] : [];
    });
  if (!detailed) {
    return {
      header: ['Path', 'Type', 'Accessor', 'Description', 'Version'],
      rows: entries.map(({ path, mount }) => [
        path,
        field(mount, 'type'),
        field(mount, 'accessor'),
        field(mount, 'description'),
        field(mount, 'plugin_version'),
      ]),
    };
  }
  const header = ['Path', 'Plugin', 'Accessor', 'Default TTL', 'Max TTL'];
  header.push(
    ...(kind === 'auth' ? ['Token Type'] : ['Force No Cache']),
    'Replication',
    'Seal Wrap',
    'External Entropy Access',
    'Options',
    'Description',
  );
  header.push('UUID', 'Version', 'Running Version', 'Running SHA256', 'Deprecation Status');
  const rows = entries.map(({ path, mount, config }) => [
    path,
    field(mount, 'type'),
    field(mount, 'accessor'),
    lease(config, 'default_lease_ttl'),
    lease(config, 'max_lease_ttl'),
    kind === 'auth' ? field(config, 'token_type') : field(config, 'force_no_cache'),
    mount['local'] === true ? 'local' : 'replicated',
    field(mount, 'seal_wrap'),
    field(mount, 'external_entropy_access'),
    optionsText(mount['options']),
    field(mount, 'description'),
    ...['uuid', 'plugin_version', 'running_plugin_version', 'running_sha256', 'deprecation_status'].map((name) => field(mount, name)),
  ]);
  return { header, rows };
}
