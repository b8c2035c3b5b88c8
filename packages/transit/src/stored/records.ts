import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

const Moment = Type.Object({ time: Type.String(), version: Type.Integer() });

/** A key: its settings, and which versions it has. The versions are records of their own, so that a key of thousands costs no more than a key of one. */
export const KeyRecord = Type.Object({
  /** Its versions are filed below it. A key that is deleted and made again, or restored, has another one. */
  id: Type.String(),
  type: Type.String(),
  key_size: Type.Optional(Type.Integer()),
  derived: Type.Boolean(),
  convergent: Type.Boolean(),
  exportable: Type.Boolean(),
  allow_plaintext_backup: Type.Boolean(),
  deletion_allowed: Type.Boolean(),
  /** Seconds; 0 for never. */
  auto_rotate_period: Type.Integer(),
  min_decryption_version: Type.Integer(),
  min_encryption_version: Type.Integer(),
  min_available_version: Type.Integer(),
  latest_version: Type.Integer(),
  imported: Type.Boolean(),
  allow_imported_rotation: Type.Boolean(),
  soft_deleted: Type.Boolean(),
  /** Counts the private keys that were added to versions which had only a public one. */
  revised: Type.Integer(),
  backup_info: Type.Optional(Moment),
  restore_info: Type.Optional(Moment),
});
export type KeyRecord = Static<typeof KeyRecord>;

/** One version of a key. All bytes are Base64. */
export const VersionRecord = Type.Object({
  /** RFC 3339. */
  created: Type.String(),
  /** The bytes of a symmetric key; of an Ed25519 key its seed and its public key. */
  key: Type.Optional(Type.String()),
  /** PKCS #8 of an RSA or ECDSA key; absent where only the public key was imported. */
  private: Type.Optional(Type.String()),
  /** SubjectPublicKeyInfo of an asymmetric key. */
  public: Type.Optional(Type.String()),
  hmac_key: Type.Optional(Type.String()),
  /** Certificates in DER, that of the key first. */
  chain: Type.Optional(Type.Array(Type.String())),
});
export type VersionRecord = Static<typeof VersionRecord>;

export const MountSettings = Type.Object({ disable_upsert: Type.Boolean(), cache_size: Type.Integer() });
export type MountSettings = Static<typeof MountSettings>;

/** The key that imported keys are wrapped with. */
export const WrappingKey = Type.Object({ private: Type.String(), public: Type.String() });
export type WrappingKey = Static<typeof WrappingKey>;

type Storage = Pick<StorageView, 'collection'>;

export function keyRecords(storage: Storage): Collection<KeyRecord> {
  return storage.collection('key/', KeyRecord);
}

export function versionRecords(storage: Storage): Collection<VersionRecord> {
  return storage.collection('version/', VersionRecord);
}

/** Ids sort as their versions do. */
export function versionId(key: Pick<KeyRecord, 'id'>, version: number): string {
  return `${key.id}/${String(version).padStart(10, '0')}`;
}

export function versionOfId(id: string): number {
  return Number(id.slice(id.lastIndexOf('/') + 1));
}

export async function settingsOf(storage: Storage): Promise<MountSettings> {
  return (await settingRecords(storage).get('mount')) ?? { disable_upsert: false, cache_size: 0 };
}

export function settingRecords(storage: Storage): Collection<MountSettings> {
  return storage.collection('setting/', MountSettings);
}

export function wrappingKeys(storage: Storage): Collection<WrappingKey> {
  return storage.collection('wrapping/', WrappingKey);
}
