import { ShownFailure, shownFailure, type StorageView } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { requireContext } from '../crypto/cipher.ts';
import { derives, encrypts, signs } from '../crypto/key-types.ts';
import { ed25519Private, ed25519Text } from '../crypto/material.ts';
import { hkdfSha256 } from '../crypto/hkdf.ts';
import { createPublicKey } from 'node:crypto';
import { typeOf, type KeyStore } from './key-store.ts';
import type { KeyRecord, VersionRecord } from '../stored/records.ts';
import { pem } from '../crypto/pem.ts';
import { ROTATION } from './rotation-plan.ts';

const Moment = Type.Optional(Type.Object({ time: Type.String(), version: Type.Integer() }));

/** A key as reads show it: its settings and its public keys. */
export const ShownKey = Type.Object({
  name: Type.String(),
  type: Type.String(),
  derived: Type.Boolean(),
  deletion_allowed: Type.Boolean(),
  min_available_version: Type.Integer(),
  min_decryption_version: Type.Integer(),
  min_encryption_version: Type.Integer(),
  latest_version: Type.Integer(),
  exportable: Type.Boolean(),
  allow_plaintext_backup: Type.Boolean(),
  supports_encryption: Type.Boolean(),
  supports_decryption: Type.Boolean(),
  supports_signing: Type.Boolean(),
  supports_derivation: Type.Boolean(),
  auto_rotate_period: Type.Integer({ description: 'Seconds; 0 for never.' }),
  rotation: Type.Optional(
    Type.Object(
      {
        next_attempt: Type.String(),
        attempts: Type.Integer({ description: 'Failed ones since the last success.' }),
        last_error: ShownFailure,
      },
      { description: 'Where the rotation by auto_rotate_period stands; absent where none is planned.' },
    ),
  ),
  imported_key: Type.Boolean(),
  imported_key_allow_rotation: Type.Optional(Type.Boolean()),
  soft_deleted: Type.Boolean(),
  key_size: Type.Optional(Type.Integer()),
  backup_info: Moment,
  restore_info: Moment,
  kdf: Type.Optional(Type.String()),
  convergent_encryption: Type.Optional(Type.Boolean()),
  convergent_encryption_version: Type.Optional(Type.Integer()),
  keys: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Union([
        Type.Integer({ description: 'When the version was made, in seconds since 1970.' }),
        Type.Object({
          name: Type.String(),
          public_key: Type.String(),
          creation_time: Type.String(),
          certificate_chain: Type.String(),
        }),
      ]),
    ),
  ),
});
export type ShownKey = Static<typeof ShownKey>;

/** `context` shows the public keys of a derived Ed25519 key. */
export async function shownKey(
  keys: KeyStore,
  storage: Pick<StorageView, 'collection' | 'jobStatus'>,
  name: string,
  key: KeyRecord,
  context: Buffer = Buffer.alloc(0),
): Promise<ShownKey> {
  const type = typeOf(key);
  const versions = type.family === 'hmac' ? [] : await keys.versions(storage, key);
  return {
    name,
    type: key.type,
    derived: key.derived,
    deletion_allowed: key.deletion_allowed,
    min_available_version: key.min_available_version,
    min_decryption_version: key.min_decryption_version,
    min_encryption_version: key.min_encryption_version,
    latest_version: key.latest_version,
    exportable: key.exportable,
    allow_plaintext_backup: key.allow_plaintext_backup,
    supports_encryption: encrypts(type),
    supports_decryption: encrypts(type),
    supports_signing: signs(type),
    supports_derivation: derives(type),
    auto_rotate_period: key.auto_rotate_period,
    ...(await shownRotation(storage, name)),
    imported_key: key.imported,
    ...(key.imported ? { imported_key_allow_rotation: key.allow_imported_rotation } : {}),
    soft_deleted: key.soft_deleted,
    ...(key.key_size === undefined ? {} : { key_size: key.key_size }),
    ...(key.backup_info ? { backup_info: key.backup_info } : {}),
    ...(key.restore_info ? { restore_info: key.restore_info } : {}),
    ...(key.derived ? { kdf: 'hkdf_sha256', convergent_encryption: key.convergent } : {}),
    ...(key.convergent ? { convergent_encryption_version: -1 } : {}),
    ...(type.family === 'hmac'
      ? {}
      : { keys: Object.fromEntries(versions.map(([number, version]) => [String(number), shownVersion(key, version, context)])) }),
  };
}

async function shownRotation(storage: Pick<StorageView, 'jobStatus'>, name: string): Promise<Pick<ShownKey, 'rotation'>> {
  const job = await storage.jobStatus(ROTATION, name);
  if (!job) return {};
  const { nextAttempt, attempts, lastError } = job;
  const failure = attempts > 0 && lastError ? { message: lastError.message, at: lastError.at.getTime() } : undefined;
  return { rotation: { next_attempt: nextAttempt.toISOString(), attempts, last_error: shownFailure(failure) } };
}

function shownVersion(key: KeyRecord, version: VersionRecord, context: Buffer): NonNullable<ShownKey['keys']>[string] {
  const type = typeOf(key);
  if (type.family === 'aead') return Math.floor(Date.parse(version.created) / 1_000);
  return {
    name: type.family === 'ecdsa' ? type.curve : type.name,
    public_key: shownPublicKey(key, version, context),
    creation_time: version.created,
    certificate_chain: certificateChain(version),
  };
}

/** PEM of the certificates of a version, that of the key first; empty without any. */
export function certificateChain({ chain = [] }: VersionRecord): string {
  return chain
    .map((der) => pem('CERTIFICATE', Buffer.from(der, 'base64')))
    .join('')
    .trimEnd();
}

function shownPublicKey(key: KeyRecord, version: VersionRecord, context: Buffer): string {
  const type = typeOf(key);
  if (type.family !== 'ed25519') return pem('PUBLIC KEY', Buffer.from(version.public ?? '', 'base64'));
  if (!key.derived) return ed25519Text(createPublicKey({ key: Buffer.from(version.public ?? '', 'base64'), format: 'der', type: 'spki' }));
  if (context.length === 0) return '';
  requireContext(key, context);
  return ed25519Text(createPublicKey(ed25519Private(hkdfSha256(Buffer.from(version.key ?? '', 'base64'), context, 32))));
}
