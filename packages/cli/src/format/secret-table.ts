import { formatDuration } from '../duration.ts';
import type { JsonRecord } from '../json.ts';
import type { Secret } from '../secret.ts';
import { table } from './columns.ts';
import { goList, goTime } from './go-value.ts';
import { leafRows } from './leaf-rows.ts';

/** Data as Key/Value rows in alphabetical order of the keys, with a row for each leaf of a nested value. */
export function dataRows(data: JsonRecord): [string, string][] {
  return Object.keys(data)
    .sort()
    .flatMap((key) => leafRows(key, data[key]));
}

function wrapRows(secret: Secret): [string, string][] {
  const wrap = secret.wrap_info;
  if (wrap === undefined) return [];
  const rows: [string, string][] = [
    ['wrapping_token:', wrap.token],
    ['wrapping_accessor:', wrap.accessor],
    ['wrapping_token_ttl:', formatDuration(wrap.ttl)],
    ['wrapping_token_creation_time:', goTime(wrap.creation_time)],
    ['wrapping_token_creation_path:', wrap.creation_path],
  ];
  if (wrap.wrapped_accessor !== '') rows.push(['wrapped_accessor:', wrap.wrapped_accessor]);
  return rows;
}

function authRows(secret: Secret): [string, string][] {
  const { auth } = secret;
  if (auth === undefined) return [];
  return [
    ['token', auth.client_token],
    ['token_accessor', auth.accessor],
    ['token_duration', auth.lease_duration > 0 ? formatDuration(auth.lease_duration) : '∞'],
    ['token_renewable', String(auth.renewable)],
    ['token_policies', goList(auth.token_policies)],
    ['identity_policies', goList(auth.identity_policies)],
    ['policies', goList(auth.policies)],
    ...Object.keys(auth.metadata)
      .sort()
      .flatMap((key) => leafRows(`token_meta_${key}`, auth.metadata[key])),
  ];
}

function leaseRows(secret: Secret): [string, string][] {
  if (secret.lease_duration <= 0) return [];
  if (secret.lease_id === '') return [['refresh_interval', formatDuration(secret.lease_duration)]];
  return [
    ['lease_id', secret.lease_id],
    ['lease_duration', formatDuration(secret.lease_duration)],
    ['lease_renewable', String(secret.renewable)],
  ];
}

/** The Key/Value rows of any envelope: wrapping token, or login, or lease and data. */
export function secretRows(secret: Secret): [string, string][] {
  if (secret.wrap_info !== undefined) return wrapRows(secret);
  return [...authRows(secret), ...leaseRows(secret), ...dataRows(secret.data ?? {})];
}

export function secretTable(secret: Secret): string {
  return table(['Key', 'Value'], secretRows(secret));
}

/** The value that `-field=name` means; undefined when the answer has no such field. Names that tables show take precedence. */
export function secretField(secret: Secret, name: string): unknown {
  const { auth, wrap_info: wrap } = secret;
  const special: Readonly<Record<string, unknown>> = {
    wrapping_token: wrap?.token,
    wrapping_accessor: wrap?.accessor,
    wrapping_token_ttl: wrap === undefined ? undefined : formatDuration(wrap.ttl),
    wrapping_token_creation_time: wrap === undefined ? undefined : goTime(wrap.creation_time),
    wrapping_token_creation_path: wrap?.creation_path,
    wrapped_accessor: wrap?.wrapped_accessor,
    token: auth?.client_token,
    token_accessor: auth?.accessor,
    token_duration: auth?.lease_duration,
    token_renewable: auth?.renewable,
    token_policies: auth?.token_policies,
    identity_policies: auth?.identity_policies,
    policies: auth?.policies,
    lease_id: secret.lease_id === '' ? undefined : secret.lease_id,
    lease_duration: secret.lease_id === '' ? undefined : secret.lease_duration,
    lease_renewable: secret.lease_id === '' ? undefined : secret.renewable,
    refresh_interval: secret.lease_duration > 0 ? secret.lease_duration : undefined,
  };
  if (Object.hasOwn(special, name) && special[name] !== undefined) return special[name];
  if (auth !== undefined && name.startsWith('token_meta_')) return auth.metadata[name.slice('token_meta_'.length)];
  if (secret.data !== undefined && Object.hasOwn(secret.data, name)) return secret.data[name];
  return name === 'data' ? secret.data : undefined;
}
