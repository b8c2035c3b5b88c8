import { BadRequest, f, namesPath, NoContent, path, type AnyPath, type EngineHost, type StorageView } from '@strongroom/engine-sdk';
import { HMAC_KEY_BYTES, KEY_TYPE_NAMES, keyType } from '../crypto/key-types.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { keyRecords, type KeyRecord } from '../stored/records.ts';
import { replanRotation, ROTATION } from '../keys/rotation-plan.ts';
import { ShownKey, shownKey } from '../keys/shown-key.ts';
import { decoded } from './batch.ts';
import { context, name } from './shared-fields.ts';

/** The least that a key lives before it is rotated by itself, in seconds. */
const LEAST_PERIOD = 3_600;

export const autoRotatePeriod = f.duration(
  'How long a version of the key is the latest one before the key is rotated by itself: at least an hour; 0 for never.',
);

/** @throws BadRequest */
export function checkPeriod(seconds: number): void {
  if (seconds !== 0 && seconds < LEAST_PERIOD) throw new BadRequest('auto rotate period must be 0 to disable or at least an hour');
}

/** `keys`, `keys/<name>`, `keys/<name>/rotate` and the soft deletion. */
export function keyPaths(host: EngineHost, keys: KeyStore): AnyPath[] {
  return [
    namesPath('keys', keyRecords(host.storage), { synopsis: 'The names of the keys.' }),
    keyPath(keys),
    rotatePath(keys),
    softDeletePath(keys),
    softRestorePath(keys),
  ];
}

/** The answer that shows a key after a change. */
export async function answerKey(keys: KeyStore, storage: StorageView, of: string, key: KeyRecord, warnings: readonly string[] = []) {
  return { data: await shownKey(keys, storage, of, key), ...(warnings.length > 0 ? { warnings } : {}) };
}

function keyPath(keys: KeyStore): AnyPath {
  return path('keys/{name}', {
    synopsis: 'A key: its type, its settings, its versions.',
    description: 'Key material is in no answer; public keys are.',
    fields: {
      name,
      type: f.string('What the key is for.', { default: 'aes256-gcm96', values: KEY_TYPE_NAMES }),
      derived: f.bool('Whether each request gives a context, for which a key of its own is derived.', { default: false }),
      convergent_encryption: f.bool('Whether the same plaintext in the same context becomes the same ciphertext. Needs derived.', {
        default: false,
      }),
      exportable: f.bool('Whether the key can be exported. Cannot be taken back.', { default: false }),
      allow_plaintext_backup: f.bool('Whether the key can be backed up. Cannot be taken back.', { default: false }),
      auto_rotate_period: autoRotatePeriod,
      key_size: f.int('Of an HMAC key: its bytes, from 32 to 512. Default: 32.', { default: 0 }),
      context,
    },
  })
    .read({
      summary: 'Reads a key.',
      response: ShownKey,
      takes: ['context'],
      handle: async ({ data, storage }) => {
        const inContext = decoded(data.context ?? '', () => 'failed to base64-decode context');
        const key = await keys.find(storage, data.name);
        return key && { data: await shownKey(keys, storage, data.name, key, inContext) };
      },
    })
    .update({
      summary: 'Creates a key. A key that exists stays as it is.',
      response: ShownKey,
      handle: async ({ data, storage }) => {
        const type = keyType(data.type)!;
        const period = data.auto_rotate_period ?? 0;
        checkPeriod(period);
        if (data.convergent_encryption && !data.derived) throw new BadRequest('convergent encryption requires derivation to be enabled');
        if (data.derived && type.family !== 'aead' && type.family !== 'ed25519')
          throw new BadRequest(`key derivation and convergent encryption not supported for keys of type ${type.name}`);
        if (data.convergent_encryption && type.family !== 'aead')
          throw new BadRequest(`convergent encryption not supported for keys of type ${type.name}`);
        if (data.key_size !== 0 && type.family !== 'hmac') throw new BadRequest(`key_size is not valid for algorithm ${type.name}`);
        if (data.key_size !== 0 && (data.key_size < HMAC_KEY_BYTES.least || data.key_size > HMAC_KEY_BYTES.most))
          throw new BadRequest(`invalid key_size ${data.key_size}: it must be from ${HMAC_KEY_BYTES.least} to ${HMAC_KEY_BYTES.most}`);
        const { key, created } = await keys.create(storage, data.name, {
          type,
          derived: data.derived,
          convergent: data.convergent_encryption,
          exportable: data.exportable,
          allowPlaintextBackup: data.allow_plaintext_backup,
          autoRotatePeriod: period,
          ...(data.key_size === 0 ? {} : { keySize: data.key_size }),
        });
        return answerKey(keys, storage, data.name, key, created ? [] : [`key ${data.name} already existed`]);
      },
    })
    .delete({
      summary: 'Deletes a key with all its versions, where deletion_allowed is set. What it encrypted is lost.',
      response: NoContent,
      handle: async ({ data, storage }) => {
        await storage.transaction(async (tx) => {
          const key = await keys.find(tx, data.name);
          if (!key) throw new BadRequest(`error deleting policy ${data.name}: could not delete key; not found`);
          if (!key.deletion_allowed) throw new BadRequest(`error deleting policy ${data.name}: deletion is not allowed for this key`);
          await keyRecords(tx).delete(data.name);
          await keys.dropVersions(tx, key);
          await tx.unschedule(ROTATION, data.name);
        });
        return undefined;
      },
    });
}

function rotatePath(keys: KeyStore): AnyPath {
  return path('keys/{name}/rotate', {
    synopsis: 'Rotates a key.',
    description: 'The new version encrypts from now on. Earlier ones still decrypt, down to min_decryption_version.',
    fields: { name },
  }).update({
    summary: 'Adds a version to a key.',
    response: ShownKey,
    handle: async ({ data, storage }) => {
      const key = await keys.find(storage, data.name);
      if (!key) throw new BadRequest('key not found');
      const next = await keys.rotate(storage, data.name, key);
      return answerKey(keys, storage, data.name, next ?? key);
    },
  });
}

function softDeletePath(keys: KeyStore): AnyPath {
  return path('keys/{name}/soft-delete', {
    synopsis: 'Quarantines a key.',
    description: 'The key cannot be used until soft-delete-restore brings it back.',
    fields: { name },
  }).delete({
    summary: 'Quarantines a key.',
    response: ShownKey,
    handle: async ({ data, storage }) => softly(keys, storage, data.name, true, 'key was already marked as soft deleted'),
  });
}

function softRestorePath(keys: KeyStore): AnyPath {
  return path('keys/{name}/soft-delete-restore', {
    synopsis: 'Brings a key back that is quarantined.',
    description: 'It is as it was before soft-delete.',
    fields: { name },
  }).update({
    summary: 'Ends the quarantine of a key.',
    response: ShownKey,
    handle: async ({ data, storage }) => softly(keys, storage, data.name, false, 'key was already restored'),
  });
}

async function softly(keys: KeyStore, storage: StorageView, of: string, deleted: boolean, already: string) {
  let was = false;
  const next = await keys.change(storage, of, async (key, tx) => {
    was = key.soft_deleted === deleted;
    const changed = { ...key, soft_deleted: deleted };
    if (!deleted) await replanRotation(tx, of, changed);
    return changed;
  });
  if (!next) throw new BadRequest(`no existing key named ${of} could be found`);
  return answerKey(keys, storage, of, next, was ? [already] : []);
}
