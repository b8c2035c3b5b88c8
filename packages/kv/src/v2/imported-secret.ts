import { BadRequest, decodeValue, parseTimestamp } from '@strongroom/engine-sdk';
import { customMetadata } from './custom-metadata.ts';
import type { SecretData, SecretRecord, VersionRecord } from './secret-record.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A secret as another server keeps it. */
export interface ImportedSecret {
  /** Without versions and data. */
  readonly settings: Omit<SecretRecord, 'versions' | 'latest'>;
  /** In the order of their numbers. `data` is absent where the version is destroyed or deleted, or where it is already here. */
  readonly versions: readonly { readonly version: VersionRecord; readonly data: SecretData | undefined }[];
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const LARGEST = 2 ** 31 - 1;

/** @throws BadRequest that names the field */
export function importedSecret(metadata: JsonObject, versions: JsonObject): ImportedSecret {
  const sent = Object.entries(versions)
    .map(([number, version]) => importedVersion(number, version))
    .sort((a, b) => a.version.version - b.version.version);
  const current_version = count(metadata, 'current_version');
  const last = sent.at(-1)?.version.version ?? 0;
  if (current_version !== last) throw new BadRequest(`metadata.current_version must be ${last}, the largest number in versions`);
  const oldest_version = count(metadata, 'oldest_version');
  const first = sent[0]?.version.version;
  if (oldest_version > (first ?? 0))
    throw new BadRequest('metadata.oldest_version must not be larger than the smallest number in versions');
  return {
    settings: {
      created_time: time(metadata, 'created_time', 'metadata.'),
      updated_time: time(metadata, 'updated_time', 'metadata.'),
      current_version,
      oldest_version,
      current_metadata_version: count(metadata, 'current_metadata_version'),
      max_versions: count(metadata, 'max_versions'),
      cas_required: flag(metadata, 'cas_required', 'metadata.'),
      metadata_cas_required: flag(metadata, 'metadata_cas_required', 'metadata.'),
      delete_version_after: duration(metadata),
      custom_metadata: texts(metadata),
    },
    versions: sent,
  };
}

function importedVersion(number: string, sent: unknown): ImportedSecret['versions'][number] {
  const at = `versions.${number}`;
  const version = /^[1-9]\d{0,9}$/.test(number) ? Number(number) : NaN;
  if (!(version <= LARGEST)) throw new BadRequest(`${at}: the key must be the number of a version, from 1 to ${LARGEST}`);
  if (!isObject(sent)) throw new BadRequest(`${at} must be an object`);
  const destroyed = flag(sent, 'destroyed', `${at}.`);
  const deletion_time = sent['deletion_time'] === undefined || sent['deletion_time'] === '' ? '' : time(sent, 'deletion_time', `${at}.`);
  const { data } = sent;
  if (data !== undefined && !isObject(data)) throw new BadRequest(`${at}.data must be an object`);
  if (destroyed && data !== undefined) throw new BadRequest(`${at}.data: a destroyed version has none`);
  return { version: { version, created_time: time(sent, 'created_time', `${at}.`), deletion_time, destroyed }, data };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function decoded<T>(kind: Parameters<typeof decodeValue>[0], value: unknown, at: string): T {
  try {
    return decodeValue(kind, value) as T;
  } catch (error) {
    throw new BadRequest(`${at}: ${(error as Error).message}`);
  }
}

function count(sent: JsonObject, name: string): number {
  const value = sent[name] === undefined ? 0 : decoded<number>('int', sent[name], `metadata.${name}`);
  if (value < 0 || value > 2 ** 32 - 1) throw new BadRequest(`metadata.${name} must be a whole number from 0 to ${2 ** 32 - 1}`);
  return value;
}

function flag(sent: JsonObject, name: string, at: string): boolean {
  return sent[name] === undefined ? false : decoded<boolean>('bool', sent[name], at + name);
}

function duration(sent: JsonObject): number {
  const value = sent['delete_version_after'];
  return value === undefined ? 0 : decoded<number>('duration', value, 'metadata.delete_version_after');
}

function texts(sent: JsonObject): SecretRecord['custom_metadata'] {
  const value = sent['custom_metadata'];
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw new BadRequest('metadata.custom_metadata must be an object');
  return customMetadata(value);
}

/** Kept as it was written, because its digits may be finer than those of a Date. */
function time(sent: JsonObject, name: string, at: string): string {
  const value = sent[name];
  if (typeof value !== 'string' || !TIME.test(value) || !parseTimestamp(value))
    throw new BadRequest(`${at}${name} must be a time such as 2030-01-01T00:00:00Z`);
  return value;
}
