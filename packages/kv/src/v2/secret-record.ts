import { Type, type Static } from 'typebox';

/** One version in a secret's record. Times are RFC 3339; '' means none. */
const VersionRecord = Type.Object({
  version: Type.Integer(),
  created_time: Type.String(),
  /** May lie in the future: the version is deleted from then on. */
  deletion_time: Type.String(),
  destroyed: Type.Boolean(),
  /** Imported when it was deleted, without its data: it cannot be undeleted. */
  absent: Type.Optional(Type.Literal(true)),
  /** Names the record of its data where that was the record of a version that is no longer kept; otherwise the version's own number does. */
  slot: Type.Optional(Type.Integer()),
});
export type VersionRecord = Static<typeof VersionRecord>;

export const CustomMetadata = Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]);

export const SecretData = Type.Record(Type.String(), Type.Unknown());
export type SecretData = Static<typeof SecretData>;

/** A secret, by path. */
export const SecretRecord = Type.Object({
  created_time: Type.String(),
  updated_time: Type.String(),
  /** 0 before the first version. */
  current_version: Type.Integer(),
  /** 0 until versions are pruned. */
  oldest_version: Type.Integer(),
  /** Counts the writes of metadata, not of data. */
  current_metadata_version: Type.Integer(),
  max_versions: Type.Integer(),
  cas_required: Type.Boolean(),
  metadata_cas_required: Type.Boolean(),
  /** Seconds; 0 means the mount's. */
  delete_version_after: Type.Number(),
  custom_metadata: CustomMetadata,
  /** In the order of their numbers. */
  versions: Type.Array(VersionRecord),
  /** The data of the current version where it is small, so that a read is one read; larger data has a record of its own. */
  latest: Type.Optional(SecretData),
});
export type SecretRecord = Static<typeof SecretRecord>;

/** Data that is not in the secret's record, by `<slot>/<path>`. */
export const DataRecord = Type.Object({
  /** Whose data it is; absent where that is the version of the slot's number. */
  version: Type.Optional(Type.Integer()),
  /** That of its version: tells the data from those of a deleted secret of the same path. */
  created_time: Type.String(),
  data: SecretData,
});
export type DataRecord = Static<typeof DataRecord>;

export function newSecret(now: Date): SecretRecord {
  const time = now.toISOString();
  return {
    created_time: time,
    updated_time: time,
    current_version: 0,
    oldest_version: 0,
    current_metadata_version: 0,
    max_versions: 0,
    cas_required: false,
    metadata_cas_required: false,
    delete_version_after: 0,
    custom_metadata: null,
    versions: [],
  };
}

export function versionOf(secret: SecretRecord, version: number): VersionRecord | undefined {
  return secret.versions.find((known) => known.version === version);
}

/** Whether the data of the version may not be read any more. */
export function isGone(version: VersionRecord, now: Date): boolean {
  return version.destroyed || version.absent === true || isDeleted(version, now);
}

export function isDeleted(version: VersionRecord, now: Date): boolean {
  return version.deletion_time !== '' && Date.parse(version.deletion_time) <= now.getTime();
}
