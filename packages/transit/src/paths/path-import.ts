import { BadRequest, f, NoContent, path, type AnyPath, type EngineHost, type StorageView } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { importedPublicVersion, importedVersion, importsPublic, isPairOf } from '../crypto/imported-version.ts';
import { unwrapKey, WRAP_HASHES, wrapHash } from '../crypto/key-wrap.ts';
import { KEY_TYPE_NAMES, keyType, type KeyType } from '../crypto/key-types.ts';
import { pem } from '../crypto/pem.ts';
import { requireLive, typeOf, type KeyStore } from '../keys/key-store.ts';
import { wrappingPair } from '../keys/wrapping-keys.ts';
import { versionId, versionRecords, type VersionRecord } from '../stored/records.ts';
import { autoRotatePeriod, checkPeriod } from './path-keys.ts';
import { name } from './shared-fields.ts';

const material = {
  ciphertext: f.secret(
    'Base64 of the key, wrapped for wrapping_key: an AES-256 key in RSA-OAEP, then the key under it by AES key wrap with padding.',
  ),
  public_key: f.string('PEM of a public key, where the private key stays elsewhere. Ignored where ciphertext is set.'),
  hash_function: f.string(`Hash of RSA-OAEP: ${WRAP_HASHES.join(', ')}.`, { default: 'SHA256' }),
};

interface Sent {
  readonly ciphertext?: string | undefined;
  readonly public_key?: string | undefined;
  readonly hash_function: string;
}

/** `wrapping_key`, `keys/<name>/import` and `keys/<name>/import_version`. */
export function importPaths(host: EngineHost, keys: KeyStore): AnyPath[] {
  const readVersion = async (storage: StorageView, type: KeyType, sent: Sent): Promise<VersionRecord> => {
    const hash = wrapHash(sent.hash_function);
    const now = host.clock.now();
    if (sent.ciphertext !== undefined && sent.ciphertext !== '') {
      const { privateKey } = await wrappingPair(storage);
      return importedVersion(type, unwrapKey(privateKey, hash, sent.ciphertext), now);
    }
    if (!importsPublic(type)) throw new BadRequest(`ciphertext is required: ${type.name} does not support public_key import`);
    if (!sent.public_key) throw new BadRequest('ciphertext or public_key is required');
    return importedPublicVersion(type, sent.public_key, now);
  };
  return [wrappingKeyPath(), importPath(keys, readVersion), importVersionPath(keys, readVersion)];
}

type ReadVersion = (storage: StorageView, type: KeyType, sent: Sent) => Promise<VersionRecord>;

function wrappingKeyPath(): AnyPath {
  return path('wrapping_key', {
    synopsis: 'The public key that keys to import are wrapped for.',
    description: 'RSA of 4,096 bits. It is created at the first request, and stays.',
    fields: {},
  }).read({
    summary: 'Reads the wrapping key.',
    response: Type.Object({ public_key: Type.String() }),
    handle: async ({ storage }) => {
      const { publicKey } = await wrappingPair(storage);
      return { data: { public_key: pem('PUBLIC KEY', publicKey.export({ type: 'spki', format: 'der' })) } };
    },
  });
}

function importPath(keys: KeyStore, readVersion: ReadVersion): AnyPath {
  return path('keys/{name}/import', {
    synopsis: 'Imports a key.',
    description: 'The key must not be there yet; import_version adds versions to one that was imported.',
    fields: {
      name,
      ...material,
      type: f.string('What the key is for.', { default: 'aes256-gcm96', values: KEY_TYPE_NAMES }),
      derived: f.bool('Whether each request gives a context, for which a key of its own is derived.', { default: false }),
      exportable: f.bool('Whether the key can be exported. Cannot be taken back.', { default: false }),
      allow_plaintext_backup: f.bool('Whether the key can be backed up. Cannot be taken back.', { default: false }),
      allow_rotation: f.bool('Whether the server may add versions of its own making.', { default: false }),
      auto_rotate_period: autoRotatePeriod,
      context: f.string('Ignored.'),
    },
  }).update({
    summary: 'Imports a key.',
    response: NoContent,
    handle: async ({ data, storage }) => {
      const type = keyType(data.type)!;
      const period = data.auto_rotate_period ?? 0;
      checkPeriod(period);
      if (period !== 0 && !data.allow_rotation) throw new BadRequest('allow_rotation must be set to true if auto_rotate_period is set');
      if (data.derived && type.family !== 'aead' && type.family !== 'ed25519')
        throw new BadRequest(`key derivation and convergent encryption not supported for keys of type ${type.name}`);
      const version = await readVersion(storage, type, data);
      if (data.derived && version.key === undefined) throw new BadRequest('derived needs the private key: send it in ciphertext');
      const { created } = await keys.create(storage, data.name, {
        type,
        derived: data.derived,
        exportable: data.exportable,
        allowPlaintextBackup: data.allow_plaintext_backup,
        autoRotatePeriod: period,
        ...(type.family === 'hmac' ? { keySize: Buffer.from(version.key ?? '', 'base64').length } : {}),
        imported: { version, allowRotation: data.allow_rotation },
      });
      if (!created)
        throw new BadRequest('the import path cannot be used with an existing key; use import_version to rotate an existing imported key');
      return undefined;
    },
  });
}

function importVersionPath(keys: KeyStore, readVersion: ReadVersion): AnyPath {
  return path('keys/{name}/import_version', {
    synopsis: 'Imports a version of a key.',
    description: 'A private key completes the latest version where that has only its public key; anything else becomes the next version.',
    fields: {
      name,
      ...material,
      version: f.int('The version that gets its private key. Default: the latest where it has none, otherwise a new one.'),
    },
  }).update({
    summary: 'Adds an imported version to a key, or the private key to a version.',
    response: NoContent,
    handle: async ({ data, storage }) => {
      const before = await keys.find(storage, data.name);
      if (!before) throw new BadRequest(`no key found with name ${data.name}; to import a new key, use the import/ endpoint`);
      requireLive(before);
      if (!before.imported) throw new BadRequest('the import_version endpoint can only be used with an imported key');
      const version = await readVersion(storage, typeOf(before), data);
      await storage.transaction(async (tx) => {
        const key = await keys.find(tx, data.name);
        if (key?.id !== before.id) throw new BadRequest('the key was removed meanwhile');
        requireLive(key);
        const number = data.version ?? key.latest_version;
        const place = versionId(key, number);
        const there = await versionRecords(tx).get(place);
        if (data.version !== undefined && !there) throw new BadRequest(`version ${data.version} does not exist`);
        const isPrivate = version.key !== undefined || version.private !== undefined;
        const lacksPrivate = there !== undefined && there.key === undefined && there.private === undefined;
        if (data.version === undefined && !(isPrivate && lacksPrivate)) {
          const size =
            typeOf(key).family === 'hmac' && version.key !== undefined ? { key_size: Buffer.from(version.key, 'base64').length } : {};
          await keys.append(tx, data.name, { ...key, ...size }, version);
          return;
        }
        if (!importsPublic(typeOf(key))) throw new BadRequest('provided type does not support importing key versions');
        if (!isPrivate) throw new BadRequest('version needs the private key: send it in ciphertext');
        if (!lacksPrivate) throw new BadRequest('private key imported, key version cannot be updated');
        if (!isPairOf(there, version)) throw new BadRequest('cannot import key, key pair does not match');
        await versionRecords(tx).put(place, { ...version, created: there.created, ...(there.chain ? { chain: there.chain } : {}) });
        // What is decoded of the version elsewhere has no private key.
        await keys.store(tx, data.name, { ...key, revised: key.revised + 1 });
      });
      return undefined;
    },
  });
}
